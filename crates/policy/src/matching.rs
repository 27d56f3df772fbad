//! Matches rules against calls.

use agent_tracer_shell::{Breadth, Effect, Step};

use crate::call::{Call, LocalTime};
use crate::glob::{Glob, PathGlob};
use crate::host;
use crate::path;
use crate::rule::{CommandMatcher, EffectWord, Matcher, Rule, TimeMatcher};
use crate::touch::{Access, Touch, UNNAMED, fixed_prefix, visit_steps};
use crate::words::Decision;

impl Rule {
    /// Returns whether the rule matches this call, without its history. A rule that lets a call run without asking
    /// has to be about all of it, any other about part of it.
    #[must_use]
    pub fn is_about(&self, call: &Call) -> bool {
        match self.decision {
            Decision::Allow | Decision::Rewrite => self.is_about_all(call),
            Decision::Warn | Decision::Ask | Decision::Deny | Decision::Stop => self.is_about_part(call),
        }
    }

    /// Returns whether the rule matches part of this call.
    ///
    /// `match` looks for one file, host or step that fits; `unless` excuses only what fits altogether. Otherwise one
    /// harmless step would excuse the harmful one beside it.
    #[must_use]
    pub(crate) fn is_about_part(&self, call: &Call) -> bool {
        self.events.contains(&call.event)
            && self.matches.holds(call, Quantifier::One)
            && self.matches.command.as_ref().is_none_or(|command| command.holds(call))
            && !self.unless.as_ref().is_some_and(|unless| {
                unless.holds(call, Quantifier::Every)
                    && unless
                        .command
                        .as_ref()
                        .is_none_or(|excused| excused.excuses(self.matches.command.as_ref(), call))
            })
    }
}

/// The part of a call that has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    One,
    Every,
}

impl Quantifier {
    /// Returns the truth for unlisted items: one may match, and none is known to; false if all are listed.
    const fn fits_beyond(self, call: &Call) -> Option<bool> {
        match (call.beyond, self) {
            (false, _) => None,
            // Beyond the limit there may be anything: it fits every prohibition and no permission.
            (true, Self::One) => Some(true),
            (true, Self::Every) => Some(false),
        }
    }

    /// Returns whether enough of some items match; of none, none does.
    fn fits<T>(self, mut things: impl Iterator<Item = T>, mut fits: impl FnMut(T) -> bool) -> bool {
        match self {
            Self::One => things.any(fits),
            Self::Every => things.next().is_some_and(|first| fits(first) && things.all(fits)),
        }
    }
}

pub(crate) fn any_matches(globs: &[Glob], text: Option<&str>) -> bool {
    globs.is_empty() || text.is_some_and(|text| globs.iter().any(|glob| glob.matches(text)))
}

impl Matcher {
    /// Returns whether everything but the command matches.
    pub(crate) fn holds(&self, call: &Call, quantifier: Quantifier) -> bool {
        self.holds_around(call)
            && (self.host.is_empty()
                || quantifier.fits_beyond(call).unwrap_or_else(|| {
                    quantifier.fits(call.hosts.iter(), |host| self.host.iter().any(|glob| glob.matches(host)))
                }))
            && self.paths_match(call, quantifier)
    }

    /// Returns whether the fields that do not depend on the parts of a command match.
    pub(crate) fn holds_around(&self, call: &Call) -> bool {
        (self.agent.is_empty() || self.agent.contains(&call.agent))
            && self.thread.is_none_or(|thread| thread == call.thread())
            && any_matches(&self.agent_type, call.agent_type.as_deref())
            && self.tool_matches(call)
            && any_matches(&self.permission_mode, call.permission_mode.as_deref())
            && any_matches(&self.skill, call.skill.as_deref())
            && any_matches(&self.mcp_server, call.mcp.as_ref().map(|(server, _)| server.as_str()))
            && any_matches(&self.mcp_tool, call.mcp.as_ref().map(|(_, tool)| tool.as_str()))
            && any_matches(&self.prompt, call.prompt.as_deref())
            && (self.project.is_empty()
                || call.project().is_some_and(|project| covers(&self.project, project, call)))
            && self.time.as_ref().is_none_or(|time| call.around.now.is_some_and(|now| time.holds(now)))
    }

    fn tool_matches(&self, call: &Call) -> bool {
        self.tool.is_empty()
            || call.tool_names().iter().any(|name| self.tool.iter().any(|glob| glob.matches(name)))
    }

    fn paths_match(&self, call: &Call, quantifier: Quantifier) -> bool {
        let touched = |globs: &[PathGlob], counts: fn(Access) -> bool| {
            globs.is_empty()
                || quantifier.fits_beyond(call).unwrap_or_else(|| {
                    quantifier.fits(call.touches.iter().filter(|touch| counts(touch.access)), |touch| {
                        match quantifier {
                            Quantifier::One => may_touch(globs, touch, call),
                            Quantifier::Every => surely_covers(globs, touch, call),
                        }
                    })
                })
        };
        touched(&self.path, |_| true)
            && touched(&self.reads, |access| matches!(access, Access::Read | Access::Any))
            && touched(&self.writes, |access| matches!(access, Access::Write | Access::Delete | Access::Any))
            && touched(&self.deletes, |access| matches!(access, Access::Delete | Access::Any))
    }
}

/// Returns whether a pattern of the rule may match a touched file.
fn may_touch(globs: &[PathGlob], touch: &Touch, call: &Call) -> bool {
    let (path, roots) = (touch.path.as_str(), call.roots());
    let goes = touch.access == Access::Delete;
    // What is not named may be anything: a rule about everything is about it too.
    if path == UNNAMED {
        return globs
            .iter()
            .any(|glob| matches!(glob.as_str(), "**" | "/**" | "*" | "/") || glob.covers(path, roots));
    }
    globs.iter().any(|glob| match touch.breadth {
        Breadth::One => glob.covers(path, roots) || (goes && glob.may_lie_below(path, roots)),
        Breadth::Pattern => {
            glob.may_cover(path, goes, roots) || (goes && glob.may_lie_below(fixed_prefix(path), roots))
        }
        Breadth::Below => glob.covers(path, roots) || glob.may_lie_below(path, roots),
        Breadth::Visible => {
            glob.covers(path, roots) || (!glob.is_hidden() && glob.may_lie_below(path, roots))
        }
    })
}

/// Returns whether the patterns of the rule match every touched file.
pub(crate) fn surely_covers(globs: &[PathGlob], touch: &Touch, call: &Call) -> bool {
    match touch.breadth {
        Breadth::Pattern => covers(globs, fixed_prefix(&touch.path), call),
        Breadth::One | Breadth::Below | Breadth::Visible => covers(globs, &touch.path, call),
    }
}

pub(crate) fn covers(globs: &[PathGlob], path: &str, call: &Call) -> bool {
    globs.iter().any(|glob| glob.covers(path, call.roots()))
}

impl CommandMatcher {
    /// Returns whether the call is a command with such a step.
    #[must_use]
    pub fn holds(&self, call: &Call) -> bool {
        let Some(shell) = &call.command else {
            // More files or hosts than are listed: there may be anything among them.
            return call.beyond && self.understood == Some(false) && self.asks_nothing_of_steps();
        };
        if self.understood.is_some_and(|wanted| wanted != call.is_understood()) {
            return false;
        }
        // Nothing is asked of any step, so that none has to be there: what is not understood may have none.
        if self.asks_nothing_of_steps() {
            return true;
        }
        let mut found = false;
        visit_steps(&shell.analysis, &mut |step| found = found || self.holds_for(step, call));
        // A command whose steps are beyond counting still has the effect of all of them.
        found || (shell.analysis.omitted_steps > 0 && self.holds_for_effect(shell.analysis.overall_effect))
    }

    /// Returns whether every step that a rule matches is of this kind.
    fn excuses(&self, about: Option<&Self>, call: &Call) -> bool {
        let Some(shell) = &call.command else { return false };
        let other = self.understood.is_some_and(|wanted| wanted != call.is_understood());
        if other || shell.analysis.omitted_steps > 0 {
            return false;
        }
        let mut steps = Vec::new();
        visit_steps(&shell.analysis, &mut |step| steps.push(step));
        steps.retain(|step| about.is_none_or(|about| about.holds_for(step, call)));
        Quantifier::Every.fits(steps.into_iter(), |step| self.holds_for(step, call))
    }

    /// Returns whether it needs no step.
    pub(crate) fn asks_nothing_of_steps(&self) -> bool {
        Self { understood: None, ..self.clone() } == Self::default()
    }

    fn holds_for_effect(&self, effect: Effect) -> bool {
        let asks_only_for_effect =
            Self { effect: Vec::new(), understood: None, ..self.clone() } == Self::default();
        asks_only_for_effect && self.effect.iter().any(|word| word.is_in(&[effect], ""))
    }

    fn holds_for(&self, step: &Step, call: &Call) -> bool {
        any_matches(&self.program, Some(&step.command_name))
            && any_matches(&self.subcommand, step.subcommand.as_deref())
            && any_matches(&self.operation, Some(&step.operation))
            && any_matches(&self.text, Some(&step.raw))
            && (self.effect.is_empty()
                || self.effect.iter().any(|word| word.is_in(&step.effects, &step.operation))
                || (names_other_host(step) && self.effect.contains(&EffectWord::Effect(Effect::Network))))
            && (self.wrapper.is_empty()
                || step.wrappers.iter().any(|name| self.wrapper.iter().any(|glob| glob.matches(name))))
            && self.recursive.is_none_or(|wanted| wanted == step.recursive)
            && self.target_matches(step, call)
    }

    fn target_matches(&self, step: &Step, call: &Call) -> bool {
        self.target.is_empty()
            || step.targets.iter().any(|target| {
                let home = call.around.home.as_deref();
                covers(&self.target, &path::absolute(&target.value, call.command_folder(), home), call)
                    || self.target.iter().any(|glob| glob.as_str() == target.value)
            })
    }
}

/// Operations that destroy something other than files of this machine.
// `effect = "delete"` is what people write to protect their files. Without this list it would also stop `git branch
// -d` and `docker rm`, and would be switched off.
const NOT_FILES: &[&str] = &[
    "query_database",
    "stop_process",
    "stop_container",
    "stop_service",
    "stop_machine",
    "delete_container",
    "delete_resource",
    "delete_branch",
    "send_request",
    "maintain",
    "change_config",
    "change_system",
    "change_user",
    "control_container",
    "control_service",
    "manage_keys",
    "publish",
    "rewrite_history",
];

/// Returns whether a step names a host other than this machine.
pub(crate) fn names_other_host(step: &Step) -> bool {
    step.uses
        .hosts
        .iter()
        .any(|host| !host.as_deref().and_then(host::host_of).is_some_and(|host| host::is_loopback(&host)))
}

impl EffectWord {
    pub(crate) fn is_in(self, effects: &[Effect], operation: &str) -> bool {
        match self {
            Self::Effect(effect) => effects.contains(&effect),
            Self::Delete => effects.contains(&Effect::Destructive) && !NOT_FILES.contains(&operation),
        }
    }
}

impl TimeMatcher {
    /// Returns whether a time is in it.
    #[must_use]
    pub fn holds(&self, now: LocalTime) -> bool {
        let begins = |day| self.days.is_empty() || self.days.contains(&day);
        if self.from < self.to {
            return begins(now.weekday) && (self.from..self.to).contains(&now.minute);
        }
        // Over midnight, or the whole day.
        (begins(now.weekday) && now.minute >= self.from)
            || (begins(now.weekday.before()) && now.minute < self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Weekday;

    #[test]
    fn nights_begin_on_their_day_and_end_on_the_next() {
        let at = |weekday, minute| LocalTime { weekday, minute };
        let night = TimeMatcher { days: vec![Weekday::Friday], from: 22 * 60, to: 6 * 60 };
        assert!(night.holds(at(Weekday::Friday, 23 * 60)));
        assert!(night.holds(at(Weekday::Saturday, 5 * 60 + 59)));
        assert!(!night.holds(at(Weekday::Saturday, 6 * 60)));
        assert!(!night.holds(at(Weekday::Friday, 5 * 60)));
        assert!(!night.holds(at(Weekday::Saturday, 23 * 60)));
        let office = TimeMatcher { days: Vec::new(), from: 9 * 60, to: 17 * 60 };
        assert!(office.holds(at(Weekday::Sunday, 9 * 60)) && !office.holds(at(Weekday::Sunday, 17 * 60)));
        let always = TimeMatcher { days: vec![Weekday::Monday], from: 0, to: 0 };
        assert!(always.holds(at(Weekday::Monday, 0)) && always.holds(at(Weekday::Monday, 1439)));
        assert!(!always.holds(at(Weekday::Tuesday, 0)));
    }
}
