//! Builtins and small programs that print, wait and compare.

use super::Call;
use super::table::{Operands, Tool, reads, runs, tool};
use crate::decode;
use crate::draft::Access;
use crate::effect::Effects;
use crate::walk::Input;

pub(super) const TOOLS: &[Tool] = &[
    tool("echo printf", "print", Effects::NEUTRAL).reader(print).builtin(),
    tool(": true false", "nothing", Effects::NEUTRAL).builtin(),
    tool("sleep usleep", "wait", Effects::NEUTRAL).operands(Operands::Detail).builtin(),
    tool("yes seq", "print", Effects::NEUTRAL).builtin(),
    tool("clear reset tput stty", "set_terminal", Effects::NEUTRAL).builtin(),
    reads("test [", "test").builtin(),
    reads("pwd", "list").builtin(),
    reads("dirs", "list").builtin(),
    reads("basename dirname", "compute").builtin(),
    reads("expr bc dc factor", "compute").builtin(),
    reads("type which whereis hash", "inspect_program").operands(Operands::Detail).builtin(),
    reads("command", "inspect_program").builtin(),
    reads("history", "inspect_history").builtin(),
    reads("help info man tldr apropos", "inspect_version").operands(Operands::Detail).builtin(),
    reads("getopt", "compute").builtin(),
    // Called with a command they unwrap; alone they print the environment or ask for a password.
    reads("env printenv locale", "inspect_environment").builtin(),
    runs("sudo doas su", "open_session"),
    runs("xargs parallel", "run_command").reader(alone),
    tool("tee", "write_file", Effects::WRITE).operands(Operands::Files(Access::Write)).reader(tee),
    tool("sponge", "write_file", Effects::WRITE).operands(Operands::Files(Access::Write)),
    tool("apply_patch applypatch", "apply_patch", Effects::WRITE).reader(apply_patch),
];

fn print(call: &mut Call<'_, '_, '_>) {
    // Without options that format: only then is what stands there what comes out.
    if call.arguments.operands.iter().all(|field| !field.dynamic) {
        let words: Vec<&str> = call.arguments.operands.iter().map(|field| &*field.text).collect();
        let format = words.first().copied().unwrap_or_default();
        let printed = match call.draft.name.as_str() {
            "printf" => decode::formatted(format, words.get(1..).unwrap_or_default()),
            _ if call.arguments.has("-e") => decode::escapes(&words.join(" ")),
            _ => words.join(" "),
        };
        call.draft.detail = Some(printed.chars().take(120).collect());
        call.draft.output = Some(printed);
    }
}

/// Reads `xargs` without a command, which prints its input.
fn alone(call: &mut Call<'_, '_, '_>) {
    call.becomes("print", Effects::NEUTRAL);
}

fn tee(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("-a --append") {
        call.draft.operation = "append_file";
    }
    // `tee` with nothing but streams only passes on.
    let writes = call.draft.aims.iter().any(|aim| aim.kind != crate::model::TargetType::Stream);
    if !writes {
        call.becomes("print", Effects::NEUTRAL);
    }
    if let Input::Text(text) = call.input {
        call.draft.output = Some(text.clone());
    }
}

/// Reads the files that the patch names.
fn apply_patch(call: &mut Call<'_, '_, '_>) {
    let patch = match (call.arguments.operand(0), call.input) {
        (Some(patch), _) => patch.to_owned(),
        (None, Input::Text(patch)) => patch.clone(),
        (None, Input::Inherited | Input::Stream { .. }) => return,
    };
    for line in patch.lines() {
        for (head, access) in [
            ("*** Add File: ", Access::Write),
            ("*** Update File: ", Access::Write),
            ("*** Move to: ", Access::Write),
            ("*** Delete File: ", Access::Delete),
        ] {
            if let Some(path) = line.strip_prefix(head) {
                call.aim_text(path.trim(), crate::model::TargetType::File, access);
                if access == Access::Delete {
                    call.also(Effects::DESTROY);
                }
            }
        }
    }
}
