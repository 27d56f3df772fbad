//! A server with everything around it made up, and its callers.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use agent_tracer_event::{Agent, Millis, TaskKey};
use agent_tracer_intake::Privacy;
use agent_tracer_privacy as privacy;
use agent_tracer_server::{
    ActiveRule, Asset, Capabilities, Config, Live, PeerUser, PolicyFile, PolicyListing, ServeError, Server,
    ServerDeps, SpoolView, Team, serve,
};
use agent_tracer_spool::{Home, Spool};
use serde_json::Value;

use crate::client::{Answer, Ask};
use crate::store::Memory;

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const NOW: i64 = 1_794_777_004_001;

pub(crate) struct World {
    pub(crate) memory: Arc<Memory>,
    pub(crate) live: Live,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) privacy: Arc<Mutex<Option<Arc<Privacy>>>>,
    pub(crate) server: Server,
    _folder: tempfile::TempDir,
}

/// Returns the settings of a server in tests: any free port, and every connection counts as this user's.
pub(crate) fn config() -> Config {
    let mut config = Config::new(TOKEN);
    config.listen = "127.0.0.1:0".parse().unwrap();
    config.peer_owner = |_, _| Some(PeerUser::Same);
    config
}

/// Why settings are not known.
const UNREADABLE: &str = "cannot rely on `privacy.conf`: permission denied";

impl World {
    pub(crate) fn new() -> Self {
        Self::with(config()).expect("the server starts")
    }

    pub(crate) fn with(config: Config) -> Result<Self, ServeError> {
        Self::made(config, None, Capabilities::default())
    }

    /// A server of a team, or one that can do more than answer.
    pub(crate) fn made(config: Config, team: Option<Team>, acts: Capabilities) -> Result<Self, ServeError> {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = Arc::new(Memory::default());
        let live = Live::new();
        let clock = Arc::new(AtomicI64::new(NOW));
        let privacy =
            Arc::new(Mutex::new(Some(Arc::new(Privacy { hash_key: [7; 16], ..Privacy::default() }))));
        let deps = ServerDeps {
            team,
            capabilities: acts,
            store: memory.clone(),
            append: memory.clone(),
            live: live.clone(),
            clock: {
                let clock = clock.clone();
                Arc::new(move || Millis(clock.load(Ordering::SeqCst)))
            },
            spool: Arc::new(|| {
                let mut view = SpoolView::with_lost([("full".to_owned(), 3)].into());
                view.faults =
                    Some(agent_tracer_ledger::view::StoreFaults { recording: true, ..Default::default() });
                view
            }),
            home: Some(home_with_dead_letter(folder.path())),
            rules: Arc::new(rules),
            privacy: {
                let privacy = privacy.clone();
                Arc::new(move || privacy.lock().unwrap().clone().ok_or_else(|| UNREADABLE.into()))
            },
            excluded: agent_tracer_server::ExcludedSessions::default(),
            unrecorded: Arc::new(|session| session == UNRECORDED),
            assets: Arc::new(asset),
        };
        let server = serve(config, deps)?;
        Ok(Self { memory, live, clock, privacy, server, _folder: folder })
    }

    /// Makes the settings unreadable, as if there had never been any.
    pub(crate) fn forget_conf(&self) {
        *self.privacy.lock().unwrap() = None;
    }

    pub(crate) fn conf(&self, text: &str) {
        let (config, faults) = privacy::Config::parse(text.as_bytes());
        assert!(faults.is_empty(), "{faults:?}");
        *self.privacy.lock().unwrap() =
            Some(Arc::new(Privacy { config, hash_key: [7; 16], home_dir: Some(b"/home/dev".to_vec()) }));
    }

    pub(crate) fn ask(&self, method: &str, path: &str) -> Ask {
        Ask::new(self.server.address(), method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).send()
    }

    /// Posts with the token.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path).bearer(TOKEN).json(body).send()
    }
}

/// Makes a home whose spool keeps one torn envelope aside.
fn home_with_dead_letter(folder: &std::path::Path) -> Home {
    let home = Home::in_folder(folder);
    Spool::at(&home.spool()).prepare().expect("a spool");
    let quarantine = home.spool().join("quarantine");
    let name = "00000000005000000000-7-1";
    let reason = format!("cannot read envelope `{name}`: it ends early");
    for (name, text) in [(name, "agent-tracer envelop"), (&format!("{name}.reason"), &reason)] {
        let mut file = std::fs::File::create(quarantine.join(name)).expect("a file");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("written");
    }
    home
}

/// A session that ran while recording was switched off.
pub(crate) const UNRECORDED: &str = "0f0e0d0c-1111-4222-8333-444455556666";

pub(crate) fn task(session: &str) -> TaskKey {
    TaskKey::new(Agent::CLAUDE_CODE, session)
}

fn asset(name: &str) -> Option<Asset> {
    let (content_type, plain, gzip): (_, &'static [u8], Option<&'static [u8]>) = match name {
        "index.html" => ("text/html; charset=utf-8", b"<!doctype html><title>page</title>", None),
        "assets/app-1a2b.js" => ("text/javascript", b"export {}", Some(b"packed")),
        _ => return None,
    };
    Some(Asset { content_type, plain, gzip, brotli: None })
}

/// One rule of the user's and one of a project.
fn rules() -> PolicyListing {
    let rule = |name: &str, project: Option<&str>| ActiveRule {
        name: name.to_owned(),
        project: project.map(str::to_owned),
        decision: "deny".to_owned(),
        matches: vec!["tool is `Write`".to_owned()],
        enabled: true,
        ..ActiveRule::default()
    };
    PolicyListing {
        files: vec![PolicyFile {
            path: "/home/dev/policy.toml".to_owned(),
            rules: 1,
            ..PolicyFile::default()
        }],
        rules: vec![rule("no-write", None), rule("no-write", Some("/srv/api"))],
        deadline_ms: 50,
        problems: vec!["something".to_owned()],
    }
}
