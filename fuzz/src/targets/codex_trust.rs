//! Whatever stands in Codex's `config.toml` and an administrator's `requirements.toml`: trust, or none.

use agent_tracer_agents::codex::trust::{Trust, TrustStore, only_managed_hooks};
use agent_tracer_agents::hooks::own_hooks;
use agent_tracer_agents::settings::Settings;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "codex_trust",
    run,
    seeds,
    dictionary: &[
        b"[hooks.state.\"/h/hooks.json:stop:0:0\"]\n",
        b"trusted_hash = \"sha256:",
        b"enabled = false\n",
        b"[features]\nhooks = false\n",
        b"[plugins.\"agent-tracer@x\"]\nenabled = true\n",
        b"allow_managed_hooks_only = true\n",
    ],
};

const OURS: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/agent-tracer-hook codex","timeout":3}]}]}}"#;

fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if only_managed_hooks(&text) {
        assert!(text.contains("true"), "only where it is asked for");
    }
    let (Ok(store), Ok(settings)) = (TrustStore::parse(&text), Settings::parse(OURS)) else { return };
    for own in own_hooks(&settings) {
        if store.trust_of(&own, "/h/hooks.json") == Trust::Trusted {
            assert!(text.contains("sha256:"), "trust is a hash that was written down");
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"model = \"gpt-5\"\n[hooks.state.\"/h/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n"
            .to_vec(),
        b"allow_managed_hooks_only = true\n".to_vec(),
    ]
}
