//! Data that the ledger does not hold of a moment, and the rules that cannot be judged without it.

use crate::{Matcher, Origin, Policy, Rule, RuleFile, Trust};

/// A part of a call that was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CallPart {
    /// The command.
    Command,
    /// The end of a long command.
    WholeCommand,
    /// The prompt of the human.
    Prompt,
    /// The permission mode of the agent.
    PermissionMode,
    /// The files.
    Files,
    /// The address.
    Address,
}

impl CallPart {
    const ALL: [Self; 6] =
        [Self::Command, Self::WholeCommand, Self::Prompt, Self::PermissionMode, Self::Files, Self::Address];

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Describes the missing data.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Command => "the command was not recorded",
            Self::WholeCommand => "only the beginning of the command was recorded",
            Self::Prompt => "the prompt was not recorded",
            Self::PermissionMode => "the permission mode is unknown",
            Self::Files => "the files were not recorded",
            Self::Address => "the address was not recorded",
        }
    }

    /// Takes what asks for this part out of a matcher. Returns whether anything did.
    fn take_from(self, matcher: &mut Matcher) -> bool {
        fn empty<T>(list: &mut Vec<T>) -> bool {
            !std::mem::take(list).is_empty()
        }
        let files = |matcher: &mut Matcher| {
            let lists = [&mut matcher.path, &mut matcher.reads, &mut matcher.writes, &mut matcher.deletes];
            lists.into_iter().map(empty).fold(false, |any, one| any | one)
        };
        match self {
            // A command says all of these.
            Self::Command | Self::WholeCommand => {
                matcher.command.take().is_some() | files(matcher) | empty(&mut matcher.host)
            }
            Self::Prompt => empty(&mut matcher.prompt),
            Self::PermissionMode => empty(&mut matcher.permission_mode),
            Self::Files => files(matcher),
            Self::Address => empty(&mut matcher.host),
        }
    }
}

/// The data missing from one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MissingParts(u8);

impl MissingParts {
    pub(crate) fn add(&mut self, part: CallPart) {
        self.0 |= part.bit();
    }

    fn parts(self) -> impl Iterator<Item = CallPart> {
        CallPart::ALL.into_iter().filter(move |part| self.0 & part.bit() != 0)
    }
}

/// A rule that cannot be judged where something is missing: what is left of it, and why.
pub(crate) struct UnjudgedRule {
    /// Its place among all rules.
    pub(crate) place: usize,
    /// The missing data: the matchers it could have satisfied.
    pub(crate) rule: Rule,
    pub(crate) reason: &'static str,
}

/// The rules, split by whether they can be judged.
pub(crate) struct RuleSplit {
    pub(crate) judged: Policy,
    pub(crate) unjudged: Vec<UnjudgedRule>,
}

impl RuleSplit {
    pub(crate) fn new(rules: &[(Origin, Rule)], missing: MissingParts) -> Self {
        let mut kept = Vec::new();
        let mut unjudged = Vec::new();
        for (place, (origin, rule)) in rules.iter().enumerate() {
            let mut rest = rule.clone();
            let mut reason = None;
            for part in missing.parts() {
                let asked = part.take_from(&mut rest.matches);
                // Whether something is excused is as unknown as whether it is meant.
                let excused = rest.unless.as_ref().is_some_and(|unless| part.take_from(&mut unless.clone()));
                if excused {
                    rest.unless = None;
                }
                if asked | excused {
                    reason = reason.or(Some(part.reason()));
                }
            }
            match reason {
                Some(reason) => unjudged.push(UnjudgedRule { place, rule: rest, reason }),
                None => kept.push((*origin, rule.clone())),
            }
        }
        Self { judged: as_policy(kept), unjudged }
    }
}

/// Rules with their origins, as one policy.
fn as_policy(rules: Vec<(Origin, Rule)>) -> Policy {
    let of = |wanted: Origin| RuleFile {
        rules: rules.iter().filter(|(origin, _)| *origin == wanted).map(|(_, rule)| rule.clone()).collect(),
        ..RuleFile::default()
    };
    Policy::of_user(of(Origin::User))
        .with_project(of(Origin::TrustedProject), Trust::Trusted)
        .with_project(of(Origin::Project), Trust::NotTrusted)
}

#[cfg(test)]
mod tests {
    use crate::read;

    use super::*;

    #[test]
    fn a_rule_is_loose_only_where_it_asks_for_what_is_missing() {
        let file = read(
            "version = 1\n\
             [[rule]]\nname = \"command\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch.command = { program = \"rm\" }\n\
             [[rule]]\nname = \"excused\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch.tool = \"Bash\"\nunless.command = { program = \"ls\" }\n\
             [[rule]]\nname = \"tool\"\non = \"PreToolUse\"\ndecision = \"deny\"\nreason = \"no\"\nmatch.tool = \"Bash\"\n",
        )
        .expect("rules");
        let rules: Vec<(Origin, Rule)> = file.rules.into_iter().map(|rule| (Origin::User, rule)).collect();
        let mut missing = MissingParts::default();
        assert!(RuleSplit::new(&rules, missing).unjudged.is_empty());
        missing.add(CallPart::Prompt);
        assert!(RuleSplit::new(&rules, missing).unjudged.is_empty());
        missing.add(CallPart::Command);
        let split = RuleSplit::new(&rules, missing);
        let unjudged: Vec<(usize, &str)> = split.unjudged.iter().map(|it| (it.place, it.reason)).collect();
        assert_eq!(unjudged, [(0, "the command was not recorded"), (1, "the command was not recorded")]);
        assert!(
            split.unjudged.iter().all(|it| it.rule.matches.command.is_none() && it.rule.unless.is_none())
        );
        assert_eq!(split.judged.rules().map(|(_, rule)| rule.name.as_str()).collect::<Vec<_>>(), ["tool"]);
    }
}
