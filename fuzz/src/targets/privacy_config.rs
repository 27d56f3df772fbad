//! Whatever a person writes into `privacy.conf`: a configuration, and a sentence for every line that was not understood.

use agent_tracer_privacy::{Config, Level};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "privacy_config",
    run,
    seeds,
    dictionary: &[
        b"level ",
        b"metadata",
        b"actions",
        b"full",
        b"exclude ",
        b"~/",
        b"**",
        b"*",
        b"?",
        b"#",
        b"\n",
        b"\r\n",
        b"/",
    ],
};

fn run(bytes: &[u8]) {
    let (config, faults) = Config::parse(bytes);
    for fault in &faults {
        assert!(!fault.to_string().is_empty(), "a fault says something");
    }
    if config.level == Level::Full {
        assert!(
            bytes.to_ascii_lowercase().windows(4).any(|word| word == b"full"),
            "full only where it is asked for"
        );
    }
    let path = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    for home in [None, Some(&b"/home/dev"[..])] {
        config.excludes(b"/home/dev/clients/secret", home);
        config.excludes(path, home);
    }
}

fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"# how much\nlevel actions\nexclude ~/clients/secret/**\nexclude client-*/src?\n".to_vec(),
        b"level full".to_vec(),
    ]
}
