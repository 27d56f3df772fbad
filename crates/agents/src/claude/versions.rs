//! Lists the versions of Claude Code: the events and the form that each one accepts in its settings.
//!
//! An event that the client does not know is never harmless. Up to 2.1.100 it makes the client drop the whole settings
//! file, the user's deny rules included; later ones hold up each interactive start with a warning. `args` is ignored
//! before 2.1.139, so that the hook runs without a word about which agent called it, and records nothing.
//!
//! The events are those that each version's program lists; form and harm are from driving it offline
//! (`tests/real-clients/versions`). `tests/real-clients/versions.json` holds what was seen, and a test holds this table
//! to it.
//!
//! Law: a set only grows. So what suits the oldest of several versions suits them all, and a version that is not known
//! gets what the first range has.

use super::events::{EVENTS, Registration};
use crate::client_version::ClientVersion;
use crate::hooks::OwnHook;

/// Describes how a handler starts the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `command` is a line for `sh`. Every version accepts it; the shell costs about a millisecond per event.
    Shell,
    /// `command` is a program and `args` are its arguments: no shell.
    Exec,
}

/// Describes what a version does about an event that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownEvent {
    /// It ignores the whole settings file, in a headless run without a word.
    DropsFile,
    /// It ignores the event, and shows a dialog at each interactive start.
    ShowsDialog,
}

/// Versions from one on, until the next range begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first version of the range.
    pub from: ClientVersion,
    /// The events that it has and the range before does not.
    pub adds: &'static [&'static str],
    /// The best form that it accepts.
    pub form: Form,
    /// Holds what it does about an event that it does not know.
    pub unknown_event: UnknownEvent,
}

const fn range(version: (u32, u32, u32), adds: &'static [&'static str]) -> Range {
    let (major, minor, patch) = version;
    let from = ClientVersion::release(major, minor, patch);
    Range { from, adds, form: Form::Shell, unknown_event: UnknownEvent::DropsFile }
}

const fn lenient(version: (u32, u32, u32), adds: &'static [&'static str]) -> Range {
    Range { unknown_event: UnknownEvent::ShowsDialog, ..range(version, adds) }
}

const fn exec(version: (u32, u32, u32), adds: &'static [&'static str]) -> Range {
    Range { form: Form::Exec, ..lenient(version, adds) }
}

/// All ranges, the oldest first.
pub const RANGES: [Range; 22] = [
    range(
        (1, 0, 128),
        &[
            "SessionStart",
            "SessionEnd",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "Notification",
            "Stop",
            "SubagentStop",
            "PreCompact",
        ],
    ),
    range((2, 0, 44), &["SubagentStart"]),
    range((2, 0, 45), &["PermissionRequest"]),
    range((2, 0, 56), &["PostToolUseFailure"]),
    range((2, 1, 10), &["Setup"]),
    range((2, 1, 33), &["TaskCompleted", "TeammateIdle"]),
    range((2, 1, 48), &["ConfigChange"]),
    range((2, 1, 50), &["WorktreeCreate", "WorktreeRemove"]),
    range((2, 1, 63), &["Elicitation", "ElicitationResult"]),
    // 2.1.64 had it, and 2.1.67 did not.
    range((2, 1, 69), &["InstructionsLoaded"]),
    range((2, 1, 76), &["PostCompact"]),
    range((2, 1, 78), &["StopFailure"]),
    range((2, 1, 83), &["CwdChanged", "FileChanged"]),
    range((2, 1, 84), &["TaskCreated"]),
    range((2, 1, 88), &["PermissionDenied"]),
    lenient((2, 1, 101), &[]),
    lenient((2, 1, 116), &["UserPromptExpansion"]),
    lenient((2, 1, 118), &["PostToolBatch"]),
    exec((2, 1, 139), &[]),
    exec((2, 1, 152), &["MessageDisplay"]),
    exec((2, 1, 219), &["DirectoryAdded"]),
    exec((2, 1, 251), &["PreModelSwitch", "PostModelSwitch"]),
];

/// The oldest version that was driven: the first of `tests/real-clients/versions.json`, to which a test holds it. Of an older
/// one only the list of events in its program is known, and the user is warned.
pub const OLDEST_DRIVEN: ClientVersion = ClientVersion::release(1, 0, 128);

/// The first version that is given verifiers: hooks of the type `prompt` or `agent`. Its release notes have both since 2.1.0;
/// before this one, whatever the client does not know may cost the user the whole settings file.
pub const VERIFIERS_FROM: ClientVersion = ClientVersion::release(2, 1, 101);

/// Returns whether a version may be given verifiers; one that is not known may not.
pub fn accepts_verifiers(client: Option<ClientVersion>) -> bool {
    client.is_some_and(|client| client >= VERIFIERS_FROM)
}

/// The oldest version that the plugin is made for: the first with [`Form::Exec`]. An older one does not load the hooks
/// of a plugin that has an event it does not know, and says nothing about it.
pub const PLUGIN_OLDEST: ClientVersion = ClientVersion::release(2, 1, 139);

/// Returns the range of a version; that of the oldest for one that is not known or older still.
pub fn range_of(client: Option<ClientVersion>) -> &'static Range {
    let oldest = &RANGES[0];
    // The least that every version accepts: an event too many can make a version ignore the whole file.
    let Some(client) = client else { return oldest };
    RANGES.iter().rev().find(|range| range.from <= client).unwrap_or(oldest)
}

/// Returns the form that a version gets.
pub fn form(client: Option<ClientVersion>) -> Form {
    range_of(client).form
}

/// Returns whether a version accepts an event; for one that is not known, whether every version does.
pub fn accepts(client: Option<ClientVersion>, event: &str) -> bool {
    let last = range_of(client).from;
    RANGES.iter().take_while(|range| range.from <= last).any(|range| range.adds.contains(&event))
}

/// Describes how what is registered suits a version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fit {
    /// Registered events that the version does not know: they do what [`Range::unknown_event`] says.
    pub refused: Vec<&'static str>,
    /// Registered events that the version calls without arguments, so that nothing is recorded.
    pub without_arguments: Vec<&'static str>,
    /// Events that the version has, that are registered by default, and that are not registered.
    pub missing: Vec<&'static str>,
    /// Registered events that cost a shell which the version does not need.
    pub in_a_shell: Vec<&'static str>,
    /// Holds how many verifiers are registered that the version may not know ([`VERIFIERS_FROM`]).
    pub verifiers: usize,
}

/// Compares our hooks and verifiers in a settings file with what a version accepts.
pub fn fit(own: &[OwnHook], verifiers: &[OwnHook], client: ClientVersion) -> Fit {
    let mut fit = Fit::default();
    if !accepts_verifiers(Some(client)) {
        fit.verifiers = verifiers.len();
    }
    for event in &EVENTS {
        let accepted = accepts(Some(client), event.name);
        let mut registered = own.iter().filter(|own| own.event == event.name).peekable();
        if registered.peek().is_none() {
            if accepted && event.registration == Registration::Default {
                fit.missing.push(event.name);
            }
            continue;
        }
        if !accepted {
            fit.refused.push(event.name);
            continue;
        }
        let has_arguments = registered.any(|own| own.value.get("args").is_some());
        match form(Some(client)) {
            Form::Shell if has_arguments => fit.without_arguments.push(event.name),
            Form::Exec if !has_arguments => fit.in_a_shell.push(event.name),
            Form::Shell | Form::Exec => {}
        }
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::install::{InstallOptions, StatusLine, plan};
    use crate::hooks::{Undo, own_hooks};
    use crate::settings::Settings;

    fn version(text: &str) -> Option<ClientVersion> {
        Some(ClientVersion::parse(text).expect("a version"))
    }

    #[test]
    fn ranges_are_in_order_and_take_nothing_back() {
        for pair in RANGES.windows(2) {
            let [earlier, later] = pair else { unreachable!("windows of two") };
            assert!(earlier.from < later.from, "{}", later.from);
            assert!(earlier.form == later.form || later.form == Form::Exec, "{}", later.from);
        }
    }

    #[test]
    fn each_event_begins_in_one_range() {
        for event in EVENTS {
            let ranges = RANGES.iter().filter(|range| range.adds.contains(&event.name)).count();
            assert_eq!(ranges, 1, "{}", event.name);
        }
        assert_eq!(RANGES.iter().map(|range| range.adds.len()).sum::<usize>(), EVENTS.len());
    }

    #[test]
    fn an_unknown_version_gets_what_every_version_accepts() {
        for event in EVENTS {
            let everywhere = RANGES.iter().all(|range| accepts(Some(range.from), event.name));
            assert_eq!(accepts(None, event.name), everywhere, "{}", event.name);
            assert_eq!(accepts(version("0.2.9"), event.name), everywhere, "{}", event.name);
        }
        assert_eq!(form(None), Form::Shell);
        assert_eq!(form(version("0.2.9")), Form::Shell);
    }

    #[test]
    fn only_a_version_that_is_known_to_take_them_is_given_verifiers() {
        for (client, accepted) in [
            (None, false),
            (version("2.0.77"), false),
            (version("2.1.100"), false),
            (version("2.1.101"), true),
            (version("3.0.0"), true),
        ] {
            assert_eq!(accepts_verifiers(client), accepted, "{client:?}");
        }
    }

    #[test]
    fn both_sides_of_a_boundary_differ() {
        assert_eq!(form(version("2.1.138")), Form::Shell);
        assert_eq!(form(version("2.1.139")), Form::Exec);
        assert!(!accepts(version("2.1.250"), "PreModelSwitch"));
        assert!(accepts(version("2.1.251"), "PreModelSwitch"));
        assert!(!accepts(version("2.1.251-beta.1"), "PreModelSwitch"), "a preview comes before its release");
        assert!(accepts(version("3.0.0"), "PreModelSwitch"));
        assert!(!accepts(version("3.0.0"), "NoSuchEvent"));
        assert_eq!(range_of(version("2.1.100")).unknown_event, UnknownEvent::DropsFile);
    }

    fn installed_for(client: Option<ClientVersion>) -> Vec<OwnHook> {
        let wanted = InstallOptions {
            hook: "/opt/a b/agent-tracer-hook".to_owned(),
            home: Some("/home/o'neill/x".to_owned()),
            client,
            events: None,
            tools: None,
            status_line: StatusLine::Leave,
        };
        let text = plan("", &wanted, Undo::default()).expect("a plan").text;
        own_hooks(&Settings::parse(&text).expect("JSON"))
    }

    #[test]
    fn what_was_chosen_for_a_version_suits_it_and_harms_no_later_one() {
        for (at, range) in RANGES.iter().enumerate() {
            let own = installed_for(Some(range.from));
            assert_eq!(fit(&own, &[], range.from), Fit::default(), "{}", range.from);
            for later in &RANGES[at..] {
                let fit = fit(&own, &[], later.from);
                assert_eq!(
                    (fit.refused, fit.without_arguments),
                    (vec![], vec![]),
                    "{} on {}",
                    range.from,
                    later.from
                );
            }
        }
    }

    #[test]
    fn what_was_chosen_for_no_version_harms_none() {
        let own = installed_for(None);
        for range in &RANGES {
            let fit = fit(&own, &[], range.from);
            assert_eq!((fit.refused, fit.without_arguments), (vec![], vec![]), "{}", range.from);
        }
    }

    #[test]
    fn a_downgrade_is_noticed() {
        let own = installed_for(version("2.1.326"));
        let refused = fit(&own, &[], ClientVersion::release(2, 1, 250)).refused;
        assert_eq!(refused, ["PreModelSwitch", "PostModelSwitch"]);
        for (patch, unknown) in [(100, own.len()), (101, 0), (326, 0)] {
            let client = ClientVersion::release(2, 1, patch);
            assert_eq!(fit(&own, &own, client).verifiers, unknown, "{client}");
        }
        let without_arguments = fit(&own, &[], ClientVersion::release(2, 1, 138)).without_arguments;
        assert!(without_arguments.contains(&"SessionStart"), "{without_arguments:?}");
    }
}
