//! The page of an overview: the findings as lines that fit a terminal, and the steps that they suggest.

use agent_tracer_event::Millis;

use super::survey::{FoundAgent, FoundHome, History, ServerState, Survey};
use crate::connection::Connection;
use crate::figures;
use crate::output::{Output, Paint, one_line};
use crate::store_backups::size;
use crate::table::cut;

/// The width of a terminal that does not say its own.
pub(super) const WIDTH: usize = 80;
/// Milliseconds by which a session file may be newer than the last call of a hook: a file also grows after the last event.
const CALL_LAG_MS: i64 = 10 * 60_000;

/// A step that a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Up,
    Connect,
    Demo,
    Help,
    Quit,
}

impl Step {
    /// Returns the key.
    pub(super) fn letter(self) -> char {
        match self {
            Step::Up => 'u',
            Step::Connect => 'c',
            Step::Demo => 'd',
            Step::Help => 'h',
            Step::Quit => 'q',
        }
    }
}

/// Returns the steps that make sense, the most useful one first.
pub(super) fn steps(survey: &Survey) -> Vec<Step> {
    let is_running = matches!(survey.server, ServerState::Running(_));
    let can_connect = !survey.unconnected().is_empty();
    let mut steps = Vec::new();
    if is_running || survey.has_history() {
        steps.push(Step::Up);
    }
    if can_connect {
        steps.push(Step::Connect);
    }
    steps.push(Step::Demo);
    if !steps.contains(&Step::Up) {
        steps.push(Step::Up);
    }
    steps.extend([Step::Help, Step::Quit]);
    steps
}

/// Returns the lines of the page, none wider than the terminal.
pub(super) fn lines(survey: &Survey, steps: &[Step], width: usize, output: &Output) -> Vec<String> {
    let fit = |text: &str| cut(&one_line(text), width.saturating_sub(15).max(20));
    let row = |head: &str, text: &str| format!("  {head:<12} {}", fit(text)).trim_end().to_owned();
    let version = env!("CARGO_PKG_VERSION");
    let mut lines = vec![output.paint(Paint::Bold, &format!("Agent Tracer {version}")), String::new()];
    for found in &survey.agents {
        let mut name = found.agent.spec().short_name;
        for home in &found.homes {
            let head = output.paint(Paint::Bold, &format!("{name:<12}"));
            lines.push(format!("  {head} {}", fit(&history(found, home, survey.now))));
            // Further homes stand below, without the name.
            name = "";
            let Some((paint, text)) = connection(found, home, survey) else { continue };
            let text = fit(&text);
            let text = paint.map_or_else(|| text.clone(), |paint| output.paint(paint, &text));
            lines.push(format!("  {:<12} {text}", ""));
        }
    }
    lines.push(String::new());
    lines.push(row("Server", &server(survey)));
    lines.push(String::new());
    for step in steps {
        let text = fit(&step_text(*step, survey));
        lines.push(format!("  {}  {text}", output.paint(Paint::Bold, &step.letter().to_string())));
    }
    lines.push(String::new());
    lines
}

fn history(found: &FoundAgent, home: &FoundHome, now: Millis) -> String {
    let History { files, bytes, newest, is_cut } = home.history;
    let Some(home) = &home.shown else {
        return if found.has_program { "installed, not used yet" } else { "not found" }.to_owned();
    };
    if files == 0 {
        return format!("no session files in {home}");
    }
    let noun = if files == 1 { "session file" } else { "session files" };
    // Of a part nothing is known about the newest of all.
    let over = if is_cut { "over " } else { "" };
    let age = newest
        .filter(|_| !is_cut)
        .map(|at| format!(", newest {} ago", figures::age(now.0.saturating_sub(at.0))));
    format!("{over}{} {noun}, {}{} in {home}", grouped(files), size(bytes), age.unwrap_or_default())
}

/// Returns the words about a connection, and their colour; `None` for an agent that is not here.
fn connection(found: &FoundAgent, home: &FoundHome, survey: &Survey) -> Option<(Option<Paint>, String)> {
    let word = found.agent.spec().word;
    Some(match &home.connection {
        Connection::NoHooks => (None, "its files are read; it calls no hooks".to_owned()),
        Connection::Absent if home.shown.is_none() && !found.has_program => return None,
        Connection::Absent => {
            (Some(Paint::Yellow), "not connected: its files show less, and later".to_owned())
        }
        Connection::Broken { program, .. } => {
            (Some(Paint::Red), format!("its hooks call `{program}`, which is missing: run `install {word}`"))
        }
        Connection::Other(way) => (Some(Paint::Green), format!("connected by {way}")),
        Connection::Hooks(_) => called(home, survey),
    })
}

/// Returns whether registered hooks are also called, with the paint for it.
fn called(home: &FoundHome, survey: &Survey) -> (Option<Paint>, String) {
    let newest = home.history.newest;
    match (survey.called_at, survey.waiting) {
        (Some(at), 0) if newest.is_some_and(|newest| newest.0 > at.0.saturating_add(CALL_LAG_MS)) => {
            let text = "connected, but newer sessions called no hook: run `doctor`";
            (Some(Paint::Yellow), text.to_owned())
        }
        (Some(at), _) => {
            let age = figures::age(survey.now.0.saturating_sub(at.0));
            (Some(Paint::Green), format!("connected; the last recorded call was {age} ago"))
        }
        (None, 0) => (Some(Paint::Green), "connected; no call yet: start a new session".to_owned()),
        (None, _) => (Some(Paint::Green), "connected; calls wait for the server".to_owned()),
    }
}

fn server(survey: &Survey) -> String {
    let waiting = match survey.waiting {
        0 => String::new(),
        count => format!("; {} events wait for it", grouped(count)),
    };
    match survey.server {
        ServerState::Running(address) => format!("running at http://{address}/"),
        ServerState::Busy => "starting, or another command writes".to_owned(),
        ServerState::Off => format!("not running{waiting}"),
    }
}

fn step_text(step: Step, survey: &Survey) -> String {
    match step {
        Step::Up => match survey.server {
            ServerState::Running(_) => "open the dashboard".to_owned(),
            ServerState::Busy | ServerState::Off if survey.has_history() => {
                "see my history now: starts the server and opens the dashboard".to_owned()
            }
            ServerState::Busy | ServerState::Off => "start the server and open the dashboard".to_owned(),
        },
        Step::Connect => {
            let name = |(found, home): &(&FoundAgent, &FoundHome)| match &home.shown {
                // With one home the name says it all.
                Some(shown) if found.homes.len() > 1 => format!("{} in {shown}", found.agent.name()),
                Some(_) | None => found.agent.name().to_owned(),
            };
            let names: Vec<String> = survey.unconnected().iter().map(name).collect();
            format!("connect {}: shows each change and asks first", names.join(" and "))
        }
        Step::Demo => "demo: recorded sessions, apart from your data".to_owned(),
        Step::Help => "help: all commands".to_owned(),
        Step::Quit => "quit".to_owned(),
    }
}

/// Returns a number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::Agent;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    const NOW: Millis = Millis(1_794_777_000_000);

    fn home(shown: &str, files: u64, connection: Connection) -> FoundHome {
        let newest = (files > 0).then_some(Millis(NOW.0 - 180_000));
        FoundHome {
            shown: Some(shown.to_owned()),
            variable: None,
            history: History { files, bytes: files * 1_000_000, newest, is_cut: false },
            connection,
        }
    }

    fn found(agent: Agent, files: u64, connection: Connection) -> FoundAgent {
        FoundAgent { agent, has_program: true, homes: vec![home("~/.agent", files, connection)] }
    }

    fn without_home(agent: Agent, has_program: bool) -> FoundAgent {
        let home = FoundHome { shown: None, ..home("", 0, Connection::Absent) };
        FoundAgent { agent, has_program, homes: vec![home] }
    }

    /// The words about the connection of the first home of the first agent.
    fn first_connection(survey: &Survey) -> String {
        let found = survey.agents.first().expect("an agent");
        connection(found, found.homes.first().expect("a home"), survey).expect("here").1
    }

    fn survey(agents: Vec<FoundAgent>) -> Survey {
        Survey { agents, server: ServerState::Off, waiting: 0, called_at: None, now: NOW }
    }

    fn text(survey: &Survey) -> Vec<String> {
        lines(survey, &steps(survey), WIDTH, &Output::plain())
    }

    #[test]
    fn a_machine_with_a_history_and_an_unconnected_agent_is_shown_whole() {
        let hooks = Connection::Hooks("/home/dev/.agent/settings.json".into());
        let survey = survey(vec![found(Agent::CLAUDE_CODE, 1_234, hooks), without_home(Agent::CODEX, true)]);
        let expected = format!(
            "Agent Tracer {}\n\n  \
             Claude       1,234 session files, 1.2 GB, newest 3m ago in ~/.agent\n               \
             connected; no call yet: start a new session\n  \
             Codex        installed, not used yet\n               \
             not connected: its files show less, and later\n\n  \
             Server       not running\n\n  \
             u  see my history now: starts the server and opens the dashboard\n  \
             c  connect Codex: shows each change and asks first\n  \
             d  demo: recorded sessions, apart from your data\n  \
             h  help: all commands\n  \
             q  quit\n",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(text(&survey).join("\n"), expected);
    }

    #[test]
    fn the_first_step_is_the_most_useful_one() {
        let absent = |agent| found(agent, 0, Connection::Absent);
        let nothing = without_home(Agent::CODEX, false);
        assert_eq!(steps(&survey(vec![nothing]))[..2], [Step::Demo, Step::Up]);
        assert_eq!(steps(&survey(vec![absent(Agent::CODEX)]))[..2], [Step::Connect, Step::Demo]);
        let history = found(Agent::CODEX, 3, Connection::Absent);
        assert_eq!(steps(&survey(vec![history]))[..2], [Step::Up, Step::Connect]);
        let running = ServerState::Running("127.0.0.1:4747".parse().expect("an address"));
        let survey = Survey { server: running, ..survey(Vec::new()) };
        assert_eq!(steps(&survey)[..2], [Step::Up, Step::Demo]);
        assert!(text(&survey).contains(&"  Server       running at http://127.0.0.1:4747/".to_owned()));
    }

    #[test]
    fn each_home_of_an_agent_has_its_own_count_and_connection() {
        let hooks = Connection::Hooks("/home/dev/.agent/settings.json".into());
        let homes = vec![home("~/.agent", 3, hooks), home("~/.agent-work", 12, Connection::Absent)];
        let survey = survey(vec![FoundAgent { agent: Agent::CLAUDE_CODE, has_program: true, homes }]);
        let text = text(&survey);
        assert_eq!(
            text[2..6],
            [
                "  Claude       3 session files, 3.0 MB, newest 3m ago in ~/.agent",
                "               connected; no call yet: start a new session",
                "               12 session files, 12.0 MB, newest 3m ago in ~/.agent-work",
                "               not connected: its files show less, and later",
            ]
        );
        let connect = "  c  connect Claude Code in ~/.agent-work: shows";
        assert!(text.iter().any(|line| line.starts_with(connect)), "{text:#?}");
    }

    #[test]
    fn hooks_that_are_not_called_are_reported() {
        let hooks = || Connection::Hooks("/home/dev/.agent/settings.json".into());
        let called = |minutes: i64, waiting| {
            let called_at = Some(Millis(NOW.0 - minutes * 60_000));
            let survey = Survey { called_at, waiting, ..survey(vec![found(Agent::CODEX, 3, hooks())]) };
            first_connection(&survey)
        };
        assert_eq!(called(5, 0), "connected; the last recorded call was 5m ago");
        assert_eq!(called(60, 0), "connected, but newer sessions called no hook: run `doctor`");
        assert_eq!(called(60, 2), "connected; the last recorded call was 1h ago", "the newer calls wait");
        let broken = Connection::Broken { file: "/x".into(), program: "/gone".to_owned() };
        let survey = survey(vec![found(Agent::CODEX, 0, broken)]);
        assert!(first_connection(&survey).contains("`/gone`, which is missing"));
        assert_eq!(survey.unconnected().len(), 1);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_name_steers_it() {
        let mut long = home(&format!("/{}\x1b[2J", "very-long/".repeat(40)), 1, Connection::Absent);
        long.history = History { files: u64::MAX, is_cut: true, ..long.history };
        let homes = vec![long, home("~/.agent", 1, Connection::Absent)];
        let survey = survey(vec![FoundAgent { agent: Agent::CLAUDE_CODE, has_program: true, homes }]);
        for width in [40, 80] {
            for line in lines(&survey, &steps(&survey), width, &Output::plain()) {
                assert!(line.width() <= width, "{width}: {line}");
                assert!(!line.contains('\x1b'), "{line:?}");
            }
        }
        assert!(
            text(&survey)[2].contains("over 18,446,744,073,709,551,615 session files"),
            "{:?}",
            text(&survey)
        );
    }
}
