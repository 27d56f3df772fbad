//! Contestants: the floor, the hook, and common alternatives.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::payloads::{self, Payload};
use crate::sink::Sink;

/// One program with one payload.
pub(crate) struct Contestant {
    /// The program, as the report calls it.
    pub(crate) name: &'static str,
    /// The payload, as the report calls it.
    pub(crate) payload: &'static str,
    /// Standard input.
    pub(crate) bytes: Vec<u8>,
    argv: Vec<OsString>,
    home: PathBuf,
}

impl Contestant {
    /// A command ready to be spawned, with the environment that a client gives its hooks.
    pub(crate) fn command(&self) -> Command {
        let mut words = self.argv.iter();
        let mut command = Command::new(words.next().map_or_else(OsString::new, Clone::clone));
        command
            .args(words)
            .env("AGENT_TRACER_HOME", &self.home)
            .env("CLAUDE_PROJECT_DIR", "/home/dev/project")
            .env("CLAUDE_CODE_SESSION_ID", "5a133364-48e1-40c2-b568-cfba1112cbce")
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env_remove("AGENT_TRACER_OFF");
        command
    }
}

/// Everything a run needs; the folders go when it is dropped.
pub(crate) struct Bench {
    /// In the order in which they take their turns.
    pub(crate) contestants: Vec<Contestant>,
    _folder: tempfile::TempDir,
    _sink: Sink,
}

fn found(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

impl Bench {
    /// Makes the folders and the list. Programs that are not on the machine are left out of it.
    pub(crate) fn prepare(hook: &Path, floor: &Path) -> Result<Self, String> {
        let absolute = |path: &Path| {
            path.canonicalize()
                .map_err(|error| format!("cannot find `{}`: {error}\nhint: run `make bench`", path.display()))
        };
        let (hook, floor) = (absolute(hook)?, absolute(floor)?);
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
        let root = folder.path().to_path_buf();
        let home = root.join("home");
        let floor_folder = root.join("floor");
        for path in [floor_folder.join("tmp"), floor_folder.join("new"), home.clone()] {
            fs::create_dir_all(&path)
                .map_err(|error| format!("cannot make `{}`: {error}", path.display()))?;
        }
        let sink = Sink::start().map_err(|error| format!("cannot listen on loopback: {error}"))?;
        let long_transcript = root.join("transcript.jsonl");
        let row = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"row\"}}\n";
        fs::File::create(&long_transcript)
            .and_then(|mut file| std::io::Write::write_all(&mut file, &row.repeat((10 << 20) / row.len())))
            .map_err(|error| format!("cannot write a transcript: {error}"))?;
        let append = root.join("appended");

        let mut contestants = Vec::new();
        let mut add = |name: &'static str, payload: &Payload, argv: Vec<OsString>| {
            contestants.push(Contestant {
                name,
                payload: payload.name,
                bytes: payload.bytes.clone(),
                argv,
                home: home.clone(),
            });
        };
        let hook_argv = || vec![hook.clone().into_os_string(), "claude".into()];
        let small = payloads::all(Path::new("/nowhere/transcript.jsonl"));
        for payload in &small {
            add(
                "floor",
                payload,
                vec![floor.clone().into_os_string(), floor_folder.clone().into_os_string()],
            );
            add("agent-tracer-hook", payload, hook_argv());
        }
        if let Some(mut first) = payloads::all(&long_transcript).into_iter().next() {
            first.name = "result 2 KB, 10 MB transcript";
            add("agent-tracer-hook", &first, hook_argv());
        }
        if let Some(payload) = small.first() {
            let append = append.display().to_string();
            let url = format!("http://127.0.0.1:{}/", sink.port);
            add("/bin/true", payload, vec!["/bin/true".into()]);
            if found("curl") {
                let line = format!("curl -s -o /dev/null --data-binary @- {url}");
                add("sh + curl", payload, vec!["sh".into(), "-c".into(), line.into()]);
            }
            if found("node") {
                let script =
                    format!("require('fs').appendFileSync({append:?},require('fs').readFileSync(0))");
                add("node one-liner", payload, vec!["node".into(), "-e".into(), script.into()]);
            }
            if found("python3") {
                let script = format!("import sys;open({append:?},'ab').write(sys.stdin.buffer.read())");
                add("python3 one-liner", payload, vec!["python3".into(), "-c".into(), script.into()]);
            }
        }
        Ok(Self { contestants, _folder: folder, _sink: sink })
    }
}
