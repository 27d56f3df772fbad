//! `agent-tracer-hook`: takes one event from an agent and puts it into the spool.
//!
//! Standard input → privacy → envelope → spool → doorbell, and out. The law of this binary: it does not wait,
//! prints nothing, and ends with 0. Losses are counted and never shown to the agent. Only if a rule of the user needs
//! a decision does it wait, until a deadline, and print the answer.
//!
//! It has no Rust `main`: before one runs, the standard library reads `/proc/self/maps` to find the stack
//! and prepares a signal stack, a third of all instructions of a start, for a message on stack overflow
//! that no user would see. The C entry point does without.

#![cfg_attr(not(test), no_main)]

mod arena;
mod arguments;
mod chain;
mod context;
mod decision;
mod environment;
mod exec_guard;
mod hash_key;
mod lookup;
mod policy_check;
mod policy_socket;
mod process;
mod project_rules;
mod record;
mod statusline;
mod transcript;

use std::io::{IsTerminal, Write};
use std::path::Path;

use agent_tracer_privacy::Moment;
use agent_tracer_spool::envelope::Channel;
use agent_tracer_spool::{Home, Reason, Spool};
use nix::sys::signal::{SigSet, Signal};

use arguments::{Arguments, Request};

/// Tests run in threads for minutes; there the system's allocator is the right one.
#[cfg(not(test))]
#[global_allocator]
static MEMORY: arena::Arena = arena::Arena::new();

/// The usage for a person who calls the hook by hand.
const USAGE: &str = "usage: agent-tracer-hook AGENT [EVENT]|statusline [--home DIR] < event.json
hint: agents call this; `agent-tracer install` connects them";

fn home(argument: Option<&Path>) -> Option<Home> {
    let home = Home::resolve(&|name| std::env::var_os(name), argument)?;
    Some(home.with_user(nix::unistd::geteuid().as_raw()))
}

/// The entry point that the C library calls.
///
/// The words come from its own arguments: `std::env::args_os` is filled before `main` by glibc and by macOS only, and
/// is empty on musl when the standard library has not started the program.
#[cfg(not(test))]
#[expect(unsafe_code, reason = "an exported symbol; nothing else in the program is called `main`")]
#[unsafe(no_mangle)]
extern "C" fn main(count: std::ffi::c_int, words: *const *const std::ffi::c_char) -> std::ffi::c_int {
    hold_back_deadly_signals();
    // SAFETY: the C library calls `main` with `count` pointers to texts that live as long as the process.
    answer(unsafe { arguments::words(count, words) })
}

/// Tests of this binary need the entry point of the standard library: with the other none of them would run.
#[cfg(test)]
fn main() {
    hold_back_deadly_signals();
    answer(std::env::args_os().skip(1));
}

/// Runs the request of the words after the program's name. Returns the exit code.
fn answer(words: impl Iterator<Item = std::ffi::OsString>) -> i32 {
    match arguments::parse(words) {
        Request::Record(arguments) => {
            end_well_on_panic(arguments.home.clone());
            return serve(&arguments);
        }
        Request::Version => {
            print_line(&mut std::io::stdout(), concat!("agent-tracer-hook ", env!("CARGO_PKG_VERSION")))
        }
        Request::Help => print_line(&mut std::io::stdout(), USAGE),
        // An agent set up by a newer version must not see an error from an older hook.
        Request::Unknown if std::io::stdin().is_terminal() => print_line(&mut std::io::stderr(), USAGE),
        Request::Unknown => record::swallow_input(),
    }
    0
}

fn serve(arguments: &Arguments) -> i32 {
    let home = home(arguments.home.as_deref());
    let recorded = record::run(arguments, home.as_ref());
    match (arguments.channel, &home) {
        (Channel::Statusline, home) => {
            show(home.as_ref(), &recorded.payload);
            0
        }
        // No rule can be about these events, and context is printed at no other.
        (Channel::Hook | Channel::Decision, Some(home)) if is_begin(recorded.moment) => {
            context::print(arguments.agent, home, recorded.moment, &recorded.payload);
            0
        }
        (Channel::Hook | Channel::Decision, Some(home)) => policy_check::answer(arguments, home, &recorded),
        (Channel::Hook | Channel::Decision, None) => 0,
    }
}

fn is_begin(moment: Moment) -> bool {
    matches!(moment, Moment::SessionStarts | Moment::SubagentStarts)
}

/// Prints the status line, with the user's own before it.
fn show(home: Option<&Home>, payload: &[u8]) {
    let settings = statusline::Settings::load(home);
    let chain = settings.chain.filter(|_| !chain::is_chained());
    let mut out = chain.map_or_else(Vec::new, |chain| chain::run(&chain, payload, chain::LIMIT));
    if !out.is_empty() {
        out.push(b'\n');
    }
    out.extend_from_slice(statusline::render(&settings.prefix, payload).as_bytes());
    print_line(&mut std::io::stdout(), String::from_utf8_lossy(&out).as_ref());
}

/// Blocks the signals of a closed pipe and of a limit on file sizes: they are errors to count, not reasons to die.
fn hold_back_deadly_signals() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGPIPE);
    signals.add(Signal::SIGXFSZ);
    // Blocked for this process only: the standard library gives children a clean mask.
    signals.thread_block().ok();
}

/// Prints a line. A closed pipe is no reason to fail.
fn print_line(out: &mut dyn Write, text: &str) {
    drop(writeln!(out, "{text}"));
}

/// Turns a bug of ours into a counted loss instead of an error that the agent sees.
fn end_well_on_panic(argument: Option<std::path::PathBuf>) {
    std::panic::set_hook(Box::new(move |_| {
        if let Some(home) = home(argument.as_deref()) {
            Spool::at(&home.spool()).count_loss(Reason::Panic);
        }
        #[expect(clippy::exit, reason = "a panic must not reach the agent as a signal or an exit code")]
        std::process::exit(0);
    }));
}
