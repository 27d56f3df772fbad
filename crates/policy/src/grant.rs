//! Checks that a rule that lets a call run without asking covers all of it.
//!
//! The law: what is not allowed alone is not allowed in company. So every step of a command has to fit by itself, with
//! all its files, hosts, effects and wrappers; nothing may be hidden from the reader; and nothing that a rule cannot
//! speak of may change what its words mean: no variable that programs obey, no program from a folder of its own, no file
//! that a redirection writes unless the rule names it.

use agent_tracer_shell::{Effect, FileAccess, Redirect, Step, TargetType};
use serde_json::Value;

use crate::call::Call;
use crate::glob::PathGlob;
use crate::host;
use crate::matching::{Quantifier, any_matches, covers, names_other_host, surely_covers};
use crate::path;
use crate::rule::{CommandMatcher, EffectWord, Matcher, Rule};
use crate::touch::{self, Access, Touch, UNNAMED, visit_steps};

/// Variables that change how a program prints and nothing that it loads, runs, reads or writes.
const PRINTING: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
    "CI",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "PYTHONUNBUFFERED",
];

/// Wrappers that change when a program runs and how long, and nothing else.
// `env`, `xargs`, `nohup` and the like are missing on purpose: they set variables, add words or let a program outlive
// the call.
const TIMING: &[&str] = &["time", "timeout", "gtimeout", "nice", "command", "stdbuf"];

fn only_prints(variable: &str) -> bool {
    PRINTING.contains(&variable) || variable.starts_with("LC_")
}

/// One list of files of a rule, and what has to be done to them.
struct FileList<'r> {
    globs: &'r [PathGlob],
    accesses: &'r [Access],
}

impl FileList<'_> {
    fn covers(&self, touch: &Touch, call: &Call) -> bool {
        self.accesses.contains(&touch.access) && surely_covers(self.globs, touch, call)
    }
}

impl Rule {
    /// Returns whether the rule covers every part of this call.
    #[must_use]
    pub(crate) fn is_about_all(&self, call: &Call) -> bool {
        self.events.contains(&call.event)
            && self.matches.holds_around(call)
            && !call.beyond
            && self.keeps_sandbox(call)
            && self.matches.fits_all(call)
            // One part that is excepted is enough: it must not run in the company of the others.
            && !self.unless.as_ref().is_some_and(|unless| {
                unless.holds(call, Quantifier::One)
                    && unless.command.as_ref().is_none_or(|command| command.holds(call))
            })
    }
}

/// Fields of an input that let a command out of the client's sandbox, and what they say if they do not.
const ESCAPES: &[(&str, &[&str])] = &[
    ("dangerouslyDisableSandbox", &["false"]),
    ("dangerously_disable_sandbox", &["false"]),
    ("with_escalated_permissions", &["false"]),
    ("sandbox_permissions", &["use_default", ""]),
    ("additional_permissions", &[]),
];

impl Rule {
    /// Returns whether a call stays in the client's sandbox, or the rule itself decides about leaving it.
    fn keeps_sandbox(&self, call: &Call) -> bool {
        ESCAPES.iter().all(|(field, stays)| {
            let inside = match call.input.get(field) {
                None | Some(Value::Null) => true,
                Some(Value::String(word)) => stays.contains(&word.as_str()),
                Some(Value::Object(asked)) if asked.is_empty() => true,
                Some(value) => stays.contains(&value.to_string().as_str()),
            };
            let changed =
                self.rewrite.remove.iter().any(|name| name == field) || self.rewrite.set.contains_key(*field);
            inside || changed
        })
    }
}

impl Matcher {
    fn fits_all(&self, call: &Call) -> bool {
        let Some(shell) = &call.command else {
            return self.command.is_none()
                && self.names_all_kinds(call)
                && self.fits_files(&call.touches, call)
                && self.fits_hosts(&call.hosts);
        };
        // Only a rule that names it permits a command that cannot be parsed.
        let wanted = self.command.as_ref().and_then(|command| command.understood).unwrap_or(true);
        if wanted != call.is_understood() || shell.analysis.omitted_steps > 0 {
            return false;
        }
        let asks_of_steps = self.command.as_ref().is_some_and(|command| !command.asks_nothing_of_steps());
        if !(asks_of_steps || self.names_files() || !self.host.is_empty()) {
            return true;
        }
        if !asks_of_steps && !self.names_all_kinds(call) {
            return false;
        }
        let mut steps = Vec::new();
        visit_steps(&shell.analysis, &mut |step| steps.push(step));
        shell.exposure.environment.iter().all(|variable| only_prints(variable))
            // A program from a folder of its own may be anything, whatever it is called.
            && shell.exposure.programs.is_empty()
            && !shell.exposure.printed
            && !steps.is_empty()
            && steps.into_iter().all(|step| self.fits_step(step, call))
            && self.fits_files(&call.touches, call)
            && self.fits_hosts(&call.hosts)
    }

    /// Returns whether a rule that names no command but hosts names files too if the call has any, and the other way round:
    /// who may be asked says nothing about what is sent there or written here.
    fn names_all_kinds(&self, call: &Call) -> bool {
        match (self.host.is_empty(), self.names_files()) {
            (false, false) => call.touches.is_empty(),
            (true, true) => call.hosts.iter().all(|host| host::is_loopback(host)),
            (true, false) | (false, true) => true,
        }
    }

    const fn names_files(&self) -> bool {
        !(self.path.is_empty() && self.reads.is_empty() && self.writes.is_empty() && self.deletes.is_empty())
    }

    /// Returns whether every file is named for its operation, and every list of the rule by a file.
    fn fits_files(&self, touches: &[Touch], call: &Call) -> bool {
        let is_used = |list: &FileList<'_>| touches.iter().any(|touch| list.covers(touch, call));
        !self.names_files()
            || (self.file_lists().iter().all(is_used) && touches.iter().all(|touch| self.names(touch, call)))
    }

    /// Returns whether a list of the rule names a file for its operation.
    fn names(&self, touch: &Touch, call: &Call) -> bool {
        self.file_lists().iter().any(|list| list.covers(touch, call))
    }

    fn file_lists(&self) -> Vec<FileList<'_>> {
        let all = [
            (&self.path, &[Access::Read, Access::Write, Access::Delete, Access::Any][..]),
            // What a tool does that no table names is covered by `path` alone.
            (&self.reads, &[Access::Read]),
            (&self.writes, &[Access::Write, Access::Delete]),
            (&self.deletes, &[Access::Delete]),
        ];
        let given = all.into_iter().filter(|(globs, _)| !globs.is_empty());
        given.map(|(globs, accesses)| FileList { globs, accesses }).collect()
    }

    fn fits_hosts(&self, hosts: &[String]) -> bool {
        let fits = |host: &String| host != UNNAMED && self.host.iter().any(|glob| glob.matches(host));
        self.host.is_empty() || (!hosts.is_empty() && hosts.iter().all(fits))
    }

    fn fits_step(&self, step: &Step, call: &Call) -> bool {
        let from = touch::BaseFolders { cwd: call.command_folder(), home: call.around.home.as_deref() };
        let touches = touch::from_step(step, from);
        let hosts: Vec<String> = host::hosts_of_step(step);
        // Each list of files has to be used by the command, not by each of its steps.
        let files = !self.names_files()
            || (!touches.is_empty() && touches.iter().all(|touch| self.names(touch, call)));
        let targets = self.command.as_ref().map(|command| command.target.as_slice()).unwrap_or_default();
        let redirected = |redirect: &Redirect| {
            let target = &redirect.target;
            let named = path::absolute(&target.value, call.command_folder(), call.around.home.as_deref());
            let connects = named.starts_with("/dev/tcp/") || named.starts_with("/dev/udp/");
            target.kind == TargetType::Stream
                || (connects && !self.host.is_empty())
                || (!connects && !redirect.operator.contains('>'))
                || (!connects && (self.names_files() || covers(targets, &named, call)))
        };
        // What a wrapper brings along, such as the command of `find -exec`, no list of files or hosts speaks of.
        let wrappers = self.command.as_ref().map(|command| command.wrapper.as_slice()).unwrap_or_default();
        let wrapped = |name: &String| {
            if wrappers.is_empty() {
                TIMING.contains(&name.as_str())
            } else {
                wrappers.iter().any(|glob| glob.matches(name))
            }
        };
        self.command.as_ref().is_none_or(|command| command.fits(step, call))
            && step.wrappers.iter().all(wrapped)
            && files
            && self.fits_hosts(&hosts)
            && step.redirects.iter().all(redirected)
    }
}

impl CommandMatcher {
    /// Returns whether all of a step is of this kind.
    fn fits(&self, step: &Step, call: &Call) -> bool {
        let effect = |effect: &Effect| {
            self.effect.iter().any(|word| word.is_in(std::slice::from_ref(effect), &step.operation))
        };
        any_matches(&self.program, Some(&step.command_name))
            && any_matches(&self.subcommand, step.subcommand.as_deref())
            && any_matches(&self.operation, Some(&step.operation))
            && any_matches(&self.text, Some(&step.raw))
            && (self.effect.is_empty()
                || (step.effects.iter().all(effect)
                    && self.expects_files(step)
                    && (!names_other_host(step)
                        || self.effect.contains(&EffectWord::Effect(Effect::Network)))))
            && (self.wrapper.is_empty() || !step.wrappers.is_empty())
            && self.recursive.is_none_or(|wanted| wanted == step.recursive)
            && self.targets_fit(step, call)
    }

    /// Returns whether the effects that the rule lists cover the operations on files: an option may name one that is written.
    fn expects_files(&self, step: &Step) -> bool {
        let lists = |effect| self.effect.contains(&EffectWord::Effect(effect));
        let graver = lists(Effect::Destructive) || self.effect.contains(&EffectWord::Delete);
        step.uses.files.iter().all(|file| match file.access {
            FileAccess::Read => true,
            FileAccess::Write => {
                lists(Effect::Write) || graver || step.effects.contains(&Effect::ExecuteCheck)
            }
            FileAccess::Delete => lists(Effect::Write) || graver,
        })
    }

    fn targets_fit(&self, step: &Step, call: &Call) -> bool {
        let fits = |target: &agent_tracer_shell::Target| {
            let home = call.around.home.as_deref();
            let fixed = touch::fixed_prefix(&target.value);
            target.kind == TargetType::Stream
                || (target.kind != TargetType::Unknown
                    && covers(&self.target, &path::absolute(fixed, call.command_folder(), home), call))
                || self.target.iter().any(|glob| glob.as_str() == target.value)
        };
        self.target.is_empty() || (!step.targets.is_empty() && step.targets.iter().all(fits))
    }
}
