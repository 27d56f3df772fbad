//! Tells the stories: calls the real hook as the agent did, and writes the agent's files as it did, at the recorded pace.
//!
//! Law: everything is written below one folder. A hook that cannot be started ends the demo with a reason; a request to
//! stop takes effect at the next scene.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::Stop;
use serde_json::Value;

use super::account::tell_limits;
use super::recording::{Scene, SceneKind, Story};
use super::rewrite::Rewrite;
use crate::failure::{Failure, plain};
use crate::files;

/// Delay between the starts of the stories in a round, in milliseconds of the recording.
const STAGGER_MS: i64 = 6_000;
const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// The folders of the demo.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    folder: PathBuf,
}

impl Stage {
    /// Everything below this folder.
    pub(crate) fn in_folder(folder: &Path) -> Stage {
        Stage { folder: folder.to_owned() }
    }

    /// Agent Tracer's home.
    pub(crate) fn tracer(&self) -> PathBuf {
        self.folder.join("tracer")
    }

    /// The home of an agent.
    pub(crate) fn agent(&self, agent: Agent) -> PathBuf {
        self.folder.join(agent.spec().word)
    }

    /// Returns a command in this world, which knows nothing of the user's own.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let homes = Agent::ALL.iter().map(|agent| (agent.spec().home_variable, self.agent(*agent)));
        let homes = homes.filter(|(variable, _)| !variable.is_empty());
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.folder)
            .env("AGENT_TRACER_HOME", self.tracer())
            .envs(homes)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        for kept in ["PATH", "TZ", "LANG"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command
    }
}

/// Counts the replayed events.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    sessions: AtomicUsize,
    hooks: AtomicUsize,
    rows: AtomicUsize,
}

impl Tally {
    /// Says it in words.
    pub(crate) fn words(&self) -> String {
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        format!(
            "{} sessions, {} hooks, {} lines of transcripts",
            of(&self.sessions),
            of(&self.hooks),
            of(&self.rows)
        )
    }
}

/// Plays the stories.
pub(crate) struct Player<'a> {
    /// The hook binary.
    pub(crate) hook: &'a Path,
    /// Folders of the demo.
    pub(crate) stage: &'a Stage,
    /// Playback speed; 1 is as recorded.
    pub(crate) speed: f64,
    /// Ends the telling early.
    pub(crate) stop: &'a Stop,
    /// The time.
    pub(crate) now: &'a (dyn Fn() -> Millis + Sync),
    /// Counts of the replayed events.
    pub(crate) tally: &'a Tally,
}

impl Player<'_> {
    /// Tells every story once, side by side; returns when the last one has ended.
    pub(crate) fn round(&self, stories: &[Story], round: i64) -> Result<(), Failure> {
        let starts_ms = (self.now)().0;
        std::thread::scope(|scope| {
            let tellers: Vec<_> = stories
                .iter()
                .zip(0_i64..)
                .map(|(story, place)| {
                    let telling = move || self.tell(story, round, starts_ms, place * STAGGER_MS);
                    (story, scope.spawn(telling))
                })
                .collect();
            let played = tellers.into_iter().map(|(story, teller)| {
                let broken = |_| Err(Failure::new(format!("playback of `{}` failed", story.name)));
                teller.join().unwrap_or_else(broken)
            });
            played.collect::<Result<Vec<()>, Failure>>().map(drop)
        })
    }

    /// Waits so many milliseconds of the recording; says whether to end.
    pub(crate) fn pause(&self, recorded_ms: f64) -> bool {
        self.stop.wait(Duration::from_secs_f64(recorded_ms / 1000.0 / self.speed))
    }

    fn tell(&self, story: &Story, round: i64, starts_ms: i64, late_ms: i64) -> Result<(), Failure> {
        let home = self.stage.agent(story.agent);
        // The clock of the round, so that files and hooks of one story agree to the millisecond.
        let round_clock = Rewrite::new(story, round, starts_ms, self.speed, &home);
        let telling = Rewrite::new(story, round, round_clock.moment_ms(late_ms), self.speed, &home);
        for scene in &story.scenes {
            let ahead_ms = telling.moment_ms(scene.at_ms) - (self.now)().0;
            let wait = Duration::from_millis(u64::try_from(ahead_ms).unwrap_or(0));
            if self.stop.wait(wait) {
                return Ok(());
            }
            let done = self.play(story, scene, &telling, &home);
            if done.is_err() {
                self.stop.request();
                return done;
            }
        }
        self.tally.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn play(&self, story: &Story, scene: &Scene, telling: &Rewrite, home: &Path) -> Result<(), Failure> {
        match &scene.what {
            SceneKind::Hook { hook } => {
                let caller = story.agent.spec().word;
                self.call(caller, &telling.value(hook))
            }
            SceneKind::StatusLine { statusline } => {
                let mut line = telling.value(statusline);
                tell_limits(story.agent, &mut line, telling.moment_ms(scene.at_ms));
                self.call("statusline", &line)
            }
            SceneKind::Row { .. } | SceneKind::Whole { .. } => {
                self.tally.rows.fetch_add(1, Ordering::Relaxed);
                write_file(story.agent, scene, telling, home)
            }
        }
    }

    fn call(&self, caller: &str, payload: &Value) -> Result<(), Failure> {
        self.tally.hooks.fetch_add(1, Ordering::Relaxed);
        let started =
            self.stage.command(self.hook).arg(caller).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
        let called = started.and_then(|mut child| {
            let written = child
                .stdin
                .take()
                .map_or(Ok(()), |mut input| input.write_all(payload.to_string().as_bytes()));
            child.wait().and(written)
        });
        called.map_err(|cause| Failure::file("call", self.hook, &cause))
    }
}

fn write_file(agent: Agent, scene: &Scene, telling: &Rewrite, home: &Path) -> Result<(), Failure> {
    let (file, value) = match &scene.what {
        SceneKind::Row { file, row } => (file, row),
        SceneKind::Whole { file, whole } => (file, whole),
        SceneKind::Hook { .. } | SceneKind::StatusLine { .. } => return Ok(()),
    };
    let path = home.join(telling.text(file));
    let mut value = telling.value(value);
    // An agent without a status line writes its limits into its files.
    if agent.spec().statusline_word.is_none() {
        tell_limits(agent, &mut value, telling.moment_ms(scene.at_ms));
    }
    let line = format!("{value}\n");
    let written = path
        .parent()
        .map_or(Ok(()), |folder| DirBuilder::new().recursive(true).mode(0o700).create(folder))
        .and_then(|()| OpenOptions::new().append(true).create(true).mode(0o600).open(&path))
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(|cause| Failure::new(format!("cannot write `{}`: {}", path.display(), plain(&cause))))
}

/// The rules that the demo's server has.
const RULES: &str = include_str!("../../demo/policy.toml");

/// Writes the rules where the demo's server looks for them.
pub(crate) fn lay_down_rules(stage: &Stage) -> Result<(), Failure> {
    let home = stage.tracer();
    files::make_folder(&home, 0o700)?;
    files::write_private(&home.join("policy.toml"), RULES.as_bytes())
}

/// Writes the agents' files as if the stories had also happened on each of the last days, at one hour or another.
pub(crate) fn lay_down_history(
    stories: &[Story],
    stage: &Stage,
    now: Millis,
    days: u32,
) -> Result<(), Failure> {
    for day in 1..=i64::from(days) {
        for (story, place) in stories.iter().zip(0_i64..) {
            // Not every story every day: days differ.
            if (day + place) % 3 == 0 {
                continue;
            }
            let hours = (day * 5 + place * 3) % 9 - 4;
            // Still over a day ago: a younger task might count as waiting for a person.
            let starts_ms = now.0 - day * DAY_MS + (hours - 6) * HOUR_MS;
            let home = stage.agent(story.agent);
            let telling = Rewrite::new(story, -day, starts_ms, 1.0, &home);
            story.scenes.iter().try_for_each(|scene| write_file(story.agent, scene, &telling, &home))?;
        }
    }
    Ok(())
}
