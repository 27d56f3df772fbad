//! Redirections: what they write, what they read, what they feed in.

use super::{Input, Walker};
use crate::draft::{Access, Draft};
use crate::effect::Effects;
use crate::exposure::{Breadth, Opacity};
use crate::model::{self, Target, TargetType};
use crate::path::tidy;
use crate::syntax::ast::{Redirect, RedirectKind};
use crate::tools::paths;
use crate::words::{Field, Frame, expand};

/// Longest here-document that is looked into, in bytes.
const MAX_DOCUMENT: usize = 16 * 1024;
/// Most files whose content is remembered.
const MAX_WRITTEN: usize = 16;

impl Walker {
    /// Adds redirections to a step: its record, its targets and its effects.
    pub(super) fn redirect(&mut self, frame: &Frame<'_>, redirects: &[Redirect], draft: &mut Draft) {
        for redirect in redirects {
            let operator = redirect.operator.of(frame.text);
            let target = match redirect.kind {
                RedirectKind::HereDocument => {
                    self.document_scripts(frame, redirect, draft);
                    stream(redirect.target.span.of(frame.text))
                }
                RedirectKind::HereString => {
                    draft.substitutions.extend(self.scripts_inside(frame, &redirect.target.parts));
                    stream(redirect.target.span.of(frame.text))
                }
                RedirectKind::Duplicate => stream(&format!("&{}", redirect.target.span.of(frame.text))),
                RedirectKind::Read | RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
                    self.file(frame, redirect, draft)
                }
            };
            let operator = match redirect.kind {
                RedirectKind::Duplicate => operator.trim_end_matches('&'),
                _ => operator,
            };
            draft.redirects.push(model::Redirect { operator: operator.to_owned(), target });
        }
    }

    fn file(&mut self, frame: &Frame<'_>, redirect: &Redirect, draft: &mut Draft) -> Target {
        let mut fields = Vec::new();
        self.expand(frame, &redirect.target, &mut fields);
        draft.substitutions.extend(self.scripts_inside(frame, &redirect.target.parts));
        let field = fields.into_iter().next().unwrap_or_else(|| Field::literal(""));
        let (kind, value) = paths::typed(&field, &self.state.place, TargetType::File);
        // No file is written: `ls 2>/dev/null` stays a probe.
        if kind == TargetType::Stream {
            return Target { kind, value };
        }
        if let Some(host) = socket(&value) {
            draft.host(host);
            draft.effects = draft.effects.without(Effects::NEUTRAL).and(Effects::NETWORK);
        }
        let access = if redirect.kind == RedirectKind::Read { Access::Read } else { Access::Write };
        let breadth = if field.glob { Breadth::Pattern } else { Breadth::One };
        draft.aim_broadly(kind, value.clone(), access, breadth);
        if redirect.kind == RedirectKind::ReadWrite {
            draft.aim(kind, value.clone(), Access::Read);
        }
        if access == Access::Write {
            if let Some(text) = &draft.output {
                self.note_written(&value, text, redirect.kind);
            }
            // What only printed now writes: `cat a > b`, `echo x > f`, `curl … > f`.
            if draft.operation == "fetch_url" {
                draft.operation = "download";
            } else if draft.effects.within(Effects::READ.and(Effects::NEUTRAL)) {
                draft.operation =
                    if redirect.kind == RedirectKind::Append { "append_file" } else { "write_file" };
            }
            draft.effects = draft.effects.without(Effects::NEUTRAL).and(Effects::WRITE);
        }
        Target { kind, value }
    }

    /// Remembers what the command line writes into a file: it may be run later on.
    fn note_written(&mut self, path: &str, text: &str, kind: RedirectKind) {
        let (path, written) = (tidy(path), &mut self.state.written);
        if kind == RedirectKind::Append
            && let Some((_, content)) = written.iter_mut().rev().find(|(known, _)| *known == path)
        {
            if content.len() + text.len() < MAX_DOCUMENT {
                content.push('\n');
                content.push_str(text);
            } else {
                self.opacity.add(Opacity::Limit);
            }
        } else if written.len() < MAX_WRITTEN && text.len() <= MAX_DOCUMENT {
            written.push((path, text.to_owned()));
        } else {
            self.opacity.add(Opacity::Limit);
        }
    }

    /// Returns the text that the command line wrote into a file.
    pub(super) fn written(&self, path: &str) -> Option<String> {
        let path = tidy(&self.state.place.locate(path));
        self.state.written.iter().rev().find(|(known, _)| *known == path).map(|(_, text)| text.clone())
    }

    /// Commands inside an unquoted here-document run.
    fn document_scripts(&mut self, frame: &Frame<'_>, redirect: &Redirect, draft: &mut Draft) {
        let heredoc = redirect.heredoc.and_then(|slot| frame.parsed.heredocs.get(slot));
        if let Some(heredoc) = heredoc {
            draft.substitutions.extend(self.scripts_inside(frame, &heredoc.parts));
        }
    }

    /// Returns the input that a command's own redirections give it.
    pub(super) fn input_of(&self, frame: &Frame<'_>, redirects: &[Redirect]) -> Option<Input> {
        // Redirections are carried out in turn, so the last one decides what the command reads.
        let redirect = redirects.iter().rev().find(|redirect| {
            matches!(
                redirect.kind,
                RedirectKind::Read | RedirectKind::HereDocument | RedirectKind::HereString
            )
        })?;
        if redirect.kind == RedirectKind::HereString {
            let mut fields = Vec::new();
            expand(frame, &redirect.target, &self.state.variables, &mut fields);
            return match fields.into_iter().next() {
                Some(field) if !field.dynamic => Some(Input::Text(field.text.into_owned())),
                _ => Some(Input::Stream { fetched: false }),
            };
        }
        let heredoc = redirect.heredoc.and_then(|slot| frame.parsed.heredocs.get(slot));
        match heredoc {
            Some(heredoc) if heredoc.body.of(frame.text).len() <= MAX_DOCUMENT => {
                Some(Input::Text(heredoc.body.of(frame.text).to_owned()))
            }
            _ => Some(Input::Stream { fetched: false }),
        }
    }
}

/// Returns the host of a path that bash opens as a connection: `/dev/tcp/host/port`.
fn socket(path: &str) -> Option<Option<String>> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let host = rest.split('/').next().unwrap_or_default();
    Some((!host.is_empty() && !host.contains(['$', '`'])).then(|| host.to_owned()))
}

fn stream(value: &str) -> Target {
    Target { kind: TargetType::Stream, value: value.to_owned() }
}
