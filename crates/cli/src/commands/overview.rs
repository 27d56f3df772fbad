//! `agent-tracer` without words: what is here, and the next step by one key.
//!
//! Law: it changes nothing by itself. A key runs the command that stands beside it, which a person could type as well; the
//! one that writes to an agent's settings shows the change first and asks. Without a terminal there is no one to press a
//! key, and the help is printed.

mod keys;
mod page;
mod survey;

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use agent_tracer_event::Agent;
use agent_tracer_intake::Stop;
use clap::CommandFactory;

use crate::arguments::{Arguments, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::{Output, Paint};
use crate::signals;
use keys::{Key, Keyboard};
use page::Step;
use survey::Survey;

/// The exit code of a command line without a command.
const NO_COMMAND: u8 = 2;
/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

pub(super) fn run(
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        output.say(Arguments::command().render_help().to_string().trim_end())?;
        return Ok(ExitCode::from(NO_COMMAND));
    }
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    let screen = Screen { options, environment, stop: &stop };
    loop {
        let survey = Survey::make(options, environment)?;
        let steps = page::steps(&survey);
        let width = output.width().unwrap_or(page::WIDTH);
        for line in page::lines(&survey, &steps, width, output) {
            output.data(&format!("{line}\n"))?;
        }
        let first = steps.first().copied().unwrap_or(Step::Quit);
        let step = match screen.choose(&steps, first, output)? {
            Key::Letter(letter) => {
                steps.iter().copied().find(|step| step.letter() == letter).unwrap_or(first)
            }
            Key::Enter => first,
            Key::End => Step::Quit,
            Key::Interrupt => return Ok(ExitCode::from(INTERRUPTED)),
            Key::Other => Step::Quit,
        };
        match step {
            Step::Up => return Err(screen.become_command(&["up"], output)),
            Step::Demo => return Err(screen.become_command(&["demo"], output)),
            Step::Help => return Err(screen.become_command(&["--help"], output)),
            Step::Quit => return Ok(ExitCode::SUCCESS),
            Step::Connect => {
                for (found, home) in survey.unconnected() {
                    screen.connect(found.agent, home.variable.as_deref(), output)?;
                    if stop.is_requested() {
                        return Ok(ExitCode::from(INTERRUPTED));
                    }
                }
                output.data("\n")?;
            }
        }
    }
}

/// Runs the chosen steps.
struct Screen<'a> {
    options: &'a Options,
    environment: &'a Environment,
    stop: &'a Stop,
}

impl Screen<'_> {
    /// Waits for the key of one of the steps, Enter, or an end.
    fn choose(&self, steps: &[Step], first: Step, output: &mut Output) -> Result<Key, Failure> {
        let letters: String = steps.iter().map(|step| step.letter()).collect();
        let key = self.key(&format!("Press a key (Enter is {}): ", first.letter()), &letters, output)?;
        output.data(&match key {
            Key::Letter(letter) => format!("{letter}\n\n"),
            Key::Enter => format!("{}\n\n", first.letter()),
            Key::End | Key::Interrupt | Key::Other => "\n".to_owned(),
        })?;
        Ok(key)
    }

    /// Asks for a key until it is one of these letters, Enter, or an end.
    fn key(&self, question: &str, letters: &str, output: &mut Output) -> Result<Key, Failure> {
        // Before the question is there to be answered.
        let keyboard = Keyboard::open()?;
        output.data(question)?;
        let mut is_advised = false;
        loop {
            match keyboard.read(letters, self.stop)? {
                Key::Other if is_advised => {}
                Key::Other => {
                    is_advised = true;
                    let list: Vec<String> = letters.chars().map(String::from).collect();
                    output.data(&format!("\nNo step has that key; press {}: ", list.join(", ")))?;
                }
                key @ (Key::Letter(_) | Key::Enter | Key::End | Key::Interrupt) => return Ok(key),
            }
        }
    }

    /// Connects an agent: the change, a question, and only after a `y` the command that writes it. `home` is the value of
    /// the agent's variable, if another home is meant than the one of this environment.
    fn connect(&self, agent: Agent, home: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
        let word = agent.spec().word;
        let variable = home.map(|home| (agent.spec().home_variable, home));
        if !self.run_command(&["install", word, "--dry-run"], variable, output)? || self.stop.is_requested() {
            return Ok(());
        }
        let question = format!("\nWrite this, and connect {}? (y/N): ", agent.name());
        match self.key(&question, "yn", output)? {
            Key::Letter('y') => {
                output.data("y\n\n")?;
                self.run_command(&["install", word], variable, output).map(drop)
            }
            Key::Letter(_) | Key::Enter | Key::End | Key::Interrupt | Key::Other => {
                output.data("n\nnothing was changed\n")
            }
        }
    }

    /// Returns the words of a command, with the options of this one.
    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a OsStr> {
        let home = self.options.home.as_deref().map(|home| [OsStr::new("--home"), home.as_os_str()]);
        words.iter().map(|word| OsStr::new(*word)).chain(home.into_iter().flatten()).collect()
    }

    fn show(
        &self,
        words: &[&OsStr],
        variable: Option<(&str, &Path)>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let words: Vec<OsString> = words.iter().map(|word| (*word).to_owned()).collect();
        let words = words.join(OsStr::new(" "));
        let set = variable.map(|(name, value)| format!("{name}='{}' ", value.display())).unwrap_or_default();
        let line = format!("$ {set}{} {}", self.environment.program(), words.to_string_lossy());
        output.data(&format!("{}\n", output.paint(Paint::Dim, &line)))
    }

    /// Runs a command to its end. Returns `true` if it succeeded; if not, it has given its reason.
    fn run_command(
        &self,
        words: &[&str],
        variable: Option<(&str, &Path)>,
        output: &mut Output,
    ) -> Result<bool, Failure> {
        let words = self.words(words);
        self.show(&words, variable, output)?;
        let program = self.environment.main_program();
        // A process inherits the signals that are held back here, and would ignore Ctrl-C.
        let status = signals::unheld(|| Command::new(&program).args(words).envs(variable).status());
        status.map(|status| status.success()).map_err(|cause| Failure::file("start", &program, &cause))
    }

    /// Replaces this process by a command; returns only if that fails.
    fn become_command(&self, words: &[&str], output: &mut Output) -> Failure {
        let words = self.words(words);
        if let Err(failure) = self.show(&words, None, output) {
            return failure;
        }
        let program = self.environment.main_program();
        let cause = signals::unheld(|| Command::new(&program).args(words).exec());
        Failure::file("start", &program, &cause)
    }
}
