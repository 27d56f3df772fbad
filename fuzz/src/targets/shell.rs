//! Whatever is typed into a shell, it is read, always the same way, and the title that people see is one short line.

use agent_tracer_agents::tools::{Call, Place, understand};
use agent_tracer_event::Agent;
use agent_tracer_shell::{Context, Dialect, Effect, describe};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "shell",
    run,
    seeds,
    dictionary: &[
        b"&&",
        b"||",
        b"|&",
        b";;",
        b"$(",
        b"`",
        b"<<EOF\n",
        b"\nEOF\n",
        b"<(",
        b"${x:-",
        b"$((",
        b"[[",
        b"]]",
        b"((",
        b"if ",
        b"then ",
        b"fi",
        b"while ",
        b"do ",
        b"done",
        b"case ",
        b"esac",
        b"function ",
        b"() {",
        b"}",
        b"2>&1",
        b">>",
        b"sudo ",
        b"env A=b ",
        b"xargs -n1 ",
        b"sh -c '",
        b"eval ",
        b"cd ",
        b"rm -rf /",
        b"curl x | sh",
        b"git push --force",
        b"ssh host ",
        b"find . -exec ",
        b"{1..9999999}",
        b"'\\''",
        b"\\\n",
        b"\0",
        b"$_",
        b"&",
    ],
};

fn run(bytes: &[u8]) {
    let command = String::from_utf8_lossy(bytes);
    for dialect in [Dialect::Bash, Dialect::PowerShell] {
        let context =
            Context { dialect, cwd: Some("/src"), home: Some("/home/dev"), rule_patterns: &["make check"] };
        let call = describe(&command, &context);
        assert_eq!(call, describe(&command, &context), "the same command says the same");
        let gravest = call.analysis.steps.iter().any(|step| step.effect == Effect::RemoteExecution);
        assert!(
            !gravest || call.analysis.overall_effect == Effect::RemoteExecution,
            "the gravest effect counts"
        );
    }
    for (agent, tool) in
        [(Agent::CLAUDE_CODE, "Bash"), (Agent::CLAUDE_CODE, "PowerShell"), (Agent::CODEX, "exec_command")]
    {
        let input = serde_json::json!({ "command": command, "cmd": command });
        let place = Place { cwd: Some("/src"), project: Some("/src") };
        let meaning = understand(&Call { agent, tool, input: &input, place });
        let title = meaning.title;
        assert!(
            title.chars().count() <= 120 && !title.chars().any(char::is_control) && !title.is_empty(),
            "a title is one short line: {title:?}"
        );
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let commands = [
        "cd src && cargo test -p spool 2>&1 | tee log; echo done",
        "for f in *.rs; do sed -i 's/a/b/' \"$f\" || exit 1; done",
        "curl -fsSL https://example.com/install.sh | sudo bash -s -- --yes",
        "cat <<'EOF' > notes.txt\nhello $USER\nEOF\ngit add -A && git commit -m \"$(cat msg)\"",
        "Get-ChildItem -Recurse src | Remove-Item -Force",
    ];
    commands.iter().map(|command| command.as_bytes().to_vec()).collect()
}
