//! Whatever a person keeps in an agent's settings: it is refused with a reason, or installing into it is undone to the
//! byte, and installing twice is installing once.

use agent_tracer_agents::hooks::{Undo, own_hooks};
use agent_tracer_agents::settings::Settings;
use agent_tracer_agents::{claude, codex};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "settings",
    run,
    seeds,
    dictionary: &[
        b"\"hooks\":",
        b"\"statusLine\":",
        b"{\"matcher\":\"\",\"hooks\":[]}",
        b"{\"type\":\"command\",\"command\":\"x\"}",
        b"\"PreToolUse\":[",
        b"// mine\n",
        b"/* mine */",
        b",",
        b"\xef\xbb\xbf",
        b"\r\n",
        b"\\u0068ooks",
    ],
};

fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(settings) = Settings::parse(&text) else { return };
    // What is ours already is brought up to date and goes at the end: that is not the user's text any more.
    if !own_hooks(&settings).is_empty() || text.contains("agent-tracer") {
        return;
    }
    let wanted = claude::install::InstallOptions {
        hook: "/opt/agent-tracer-hook".to_owned(),
        home: None,
        client: None,
        events: None,
        tools: None,
        status_line: claude::install::StatusLine::Ours { displaces: None },
    };
    if let Ok(plan) = claude::install::plan(&text, &wanted, Undo::default()) {
        let again = claude::install::plan(&plan.text, &wanted, plan.undo.clone());
        assert_eq!(again.map(|again| again.text).as_ref(), Ok(&plan.text), "twice is once");
        let back = claude::install::withdraw(&plan.text, &plan.undo, None);
        assert_eq!(back.map(|back| back.text).as_deref(), Ok(text.as_ref()), "undone to the byte");
    }
    let wanted = codex::install::InstallOptions { hook: wanted.hook, home: None, events: None, tools: None };
    if let Ok(plan) = codex::install::plan(&text, &wanted, Undo::default()) {
        let back = codex::install::withdraw(&plan.text, &plan.undo);
        assert_eq!(back.map(|back| back.text).as_deref(), Ok(text.as_ref()), "undone to the byte");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n  }\n}\n".to_vec(),
        b"{\"statusLine\":{\"type\":\"command\",\"command\":\"line --x\",\"padding\":1}}".to_vec(),
        b"{ // mine\n \"a\": [1, 2,], \"hooks\": {} }".to_vec(),
        b"".to_vec(),
    ]
}
