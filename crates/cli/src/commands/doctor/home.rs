//! Agent Tracer's own home: closed to others, writable, with room, and what waits or was lost in it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use agent_tracer_fleet::ship::{Cursor, lag};
use agent_tracer_ledger::lost_posts as lost_posts_of;
use agent_tracer_privacy::Config;
use agent_tracer_spool::settings_file::{self, Refusal};
use agent_tracer_spool::{Home, Reason, Spool, Stats};
use nix::sys::statvfs::statvfs;

use super::DoctorContext;
use super::check::{Check, Group, State, counted};
use crate::failure::plain;
use crate::output::one_line;
use crate::{config, ship_job};

/// Below this the user should know: a busy day of a few agents writes some hundred megabytes.
const FREE_BYTES_LOW: u64 = 512 << 20;

/// More changes than this mean that nothing was shipped for a while.
const FAR_BEHIND: u64 = 50_000;

fn check(name: &'static str, state: State, text: impl Into<String>) -> Check {
    Check::new(Group::Home, name, state, text)
}

pub(super) fn checks(context: &DoctorContext<'_>) -> Vec<Check> {
    let home = &context.home;
    if !home.data().is_dir() {
        let text = format!(
            "`{}` does not exist yet; `install` or the first event creates it",
            home.data().display()
        );
        return vec![check("home", State::Info, text), privacy(context)].into_iter().collect();
    }
    let mut checks = vec![folder(context)];
    checks.extend(private_files(context));
    checks.extend(refused_files(context));
    checks.extend(settings(home));
    checks.extend(room(home.data()));
    checks.push(privacy(context));
    checks.extend(spool(&Spool::at(&home.spool())));
    checks.extend(lost_posts(home));
    checks.extend(shipped(context));
    checks
}

/// Checks the progress of shipping to a team's server, if it is on.
fn shipped(context: &DoctorContext<'_>) -> Option<Check> {
    let (home, environment) = (&context.home, context.environment);
    let path = ship_job::cursor_path(home);
    let policy = match ship_job::policy(home, environment, None) {
        Ok(policy) => policy,
        Err(failure) => {
            return Some(
                check("ship", State::Fail, one_line(failure.message()))
                    .fix("correct the line; nothing leaves until then"),
            );
        }
    };
    if policy.to().is_none() && !path.exists() {
        return None;
    }
    // A ledger that cannot be read is reported by its own check.
    let behind = ship_job::outbox(home).ok().and_then(|outbox| {
        let to = Cursor::shipped_to(&path).or_else(|| policy.to().map(str::to_owned)).unwrap_or_default();
        let behind = lag(&outbox, &Cursor::open(&path, &to).ok()?).ok()?;
        Some((to, behind))
    });
    Some(match behind {
        Some((to, 0)) => check("ship", State::Ok, format!("everything is shipped to `{to}`")),
        Some((to, behind)) if behind < FAR_BEHIND => {
            check("ship", State::Info, format!("{behind} changes not yet shipped to `{to}`"))
        }
        Some((to, behind)) => {
            check("ship", State::Warn, format!("{behind} changes not yet shipped to `{to}`"))
                .fix("run `agent-tracer ship --once` to ship them, or to see the cause")
        }
        None => check("ship", State::Warn, "shipping backlog unknown"),
    })
}

fn folder(context: &DoctorContext<'_>) -> Check {
    let data = context.home.data();
    let shown = data.display();
    let facts = match fs::metadata(data) {
        Ok(facts) => facts,
        Err(cause) => {
            return check("home", State::Fail, format!("cannot access `{shown}`: {}", plain(&cause)));
        }
    };
    // The way in which hooks write: a file that is made and removed again, in each folder they use.
    let spool = context.home.spool();
    for folder in [spool.join("tmp"), spool.join("new"), spool, data.to_owned()] {
        let place = folder.display();
        if !folder.exists() {
            continue;
        }
        if !folder.is_dir() {
            let text = format!("nothing can be recorded: `{place}` is not a folder");
            return check("home", State::Fail, text)
                .fix(format!("move `{place}` away; the next event or `install` makes the folder"));
        }
        if let Err(cause) = tempfile::Builder::new().prefix(".doctor-").tempfile_in(&folder) {
            let text = format!("nothing can be recorded: cannot write to `{place}`: {}", plain(&cause));
            return check("home", State::Fail, text)
                .fix(format!("make `{place}` writable for you, or name another folder with `--home`"));
        }
    }
    // A folder that the user named may be open on purpose; the default one never is.
    let exposed = facts.permissions().mode() & 0o077 != 0;
    if exposed && context.default_home {
        return check("home", State::Warn, format!("other users can read `{shown}`"))
            .fix(format!("chmod 700 '{shown}'"));
    }
    check("home", State::Ok, format!("data is in `{shown}`"))
}

/// Checks that private files are closed to others, even if the folder around them is not.
fn private_files(context: &DoctorContext<'_>) -> Option<Check> {
    let home = &context.home;
    let exposed: Vec<String> =
        [home.spool(), home.hash_key(), home.token(), home.backups(), home.install_record()]
            .into_iter()
            .filter(|path| *path != home.spool() || path.is_dir())
            .filter(|path| fs::metadata(path).is_ok_and(|facts| facts.mode() & 0o077 != 0))
            .map(|path| format!("'{}'", path.display()))
            .collect();
    if exposed.is_empty() {
        return None;
    }
    Some(
        check("permissions", State::Fail, format!("other users can read {}", exposed.join(", ")))
            .fix(format!("chmod go= {}", exposed.join(" "))),
    )
}

/// Files that are obeyed, in the folder of what the user edits and in that of what the product writes. The files that held
/// a table of `config.toml` before are obeyed, too.
const CONFIG_FILES: [&str; 4] = ["privacy.conf", "policy.toml", "statusline.conf", "config.toml"];
const DATA_FILES: [&str; 5] = ["key", "token", "policy.tbl", "policy-trust.json", "install.json"];

/// Reports files that other users can write: rules, exclusions and commands in them are not in force.
fn refused_files(context: &DoctorContext<'_>) -> Vec<Check> {
    let home = &context.home;
    // Files of older versions are still read where their table is absent, so they are judged like the new one.
    let old = config::TABLES.map(|table| table.old_file.name);
    let config = CONFIG_FILES.iter().chain(&old).map(|name| home.config().join(name));
    let data = DATA_FILES.iter().map(|name| home.data().join(name));
    let mut checks: Vec<Check> = Vec::new();
    for path in config.chain(data) {
        let Err(refusal) = settings_file::check(&path, home.user()) else { continue };
        let text = match &refusal {
            // A folder is reported once, not for each file in it.
            Refusal::Foreign { path: folder, .. } | Refusal::Writable { path: folder } if *folder != path => {
                format!(
                    "all settings in `{}` are ignored, and nothing is recorded: {refusal}",
                    folder.display()
                )
            }
            _ => format!("`{}` is ignored: {refusal}", path.display()),
        };
        let found = check("settings", State::Fail, text).fix(refusal.hint(&path));
        if !checks.contains(&found) {
            checks.push(found);
        }
    }
    checks
}

/// Reports mistakes in `config.toml`, and the files that held its tables before.
fn settings(home: &Home) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for (table, failure) in config::faults(home) {
        // Two tables have checks of their own, and a mistake outside of every table is reported once.
        let found = check("config", State::Warn, one_line(failure.message()));
        if !matches!(table, "backup" | "ship") && checks.iter().all(|check| check.text != found.text) {
            checks.push(found.fix("correct the line; `agent-tracer config list` shows what is in force"));
        }
    }
    checks.extend(config::leftovers(home).into_iter().map(|old| {
        let (path, table) = (old.path.display(), old.table);
        if old.is_read {
            let text = format!("`{path}` is still read; the table `[{table}]` of `config.toml` replaces it");
            check("config", State::Info, text)
                .fix("run `agent-tracer config migrate` to move its settings there")
        } else {
            let text = format!("`{path}` is ignored: the table `[{table}]` of `config.toml` takes its place");
            check("config", State::Info, text).fix(format!("rm '{path}'"))
        }
    }));
    checks
}

fn room(data: &Path) -> Option<Check> {
    let facts = statvfs(data).ok()?;
    // The types of the two differ between systems.
    #[expect(clippy::useless_conversion, reason = "not useless where the system's type is narrower")]
    let free = u64::from(facts.blocks_available()).saturating_mul(u64::from(facts.fragment_size()));
    (free < FREE_BYTES_LOW).then(|| {
        check("disk", State::Warn, format!("only {} left on the disk of `{}`", size(free), data.display()))
            .fix("free some space, or move the home with `--home`")
    })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{} MB", bytes >> 20),
    }
}

fn privacy(context: &DoctorContext<'_>) -> Check {
    let path = context.home.privacy_conf();
    let shown = path.display();
    let bytes = match settings_file::read(&path, context.home.user(), Config::MAX_BYTES) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(refusal) => {
            let text = format!("nothing is recorded: cannot rely on `{shown}`: {refusal}");
            return check("privacy", State::Fail, text).fix(refusal.hint(&path));
        }
    };
    let (config, faults) = Config::parse(&bytes);
    let level = config.level.name();
    if let Some(first) = faults.first() {
        let text = first.to_string();
        let (text, hint) = text.split_once("\nhint: ").unwrap_or((&text, "correct the line"));
        let more = if faults.len() > 1 { format!(" (and {} more)", faults.len() - 1) } else { String::new() };
        // Worse than a wrong level: a mistyped exclusion would record what the user meant to keep out.
        if let Some(fault) = faults.iter().find(|fault| fault.may_hide_exclusion()) {
            let text = fault.to_string();
            let (text, hint) = text.split_once("\nhint: ").unwrap_or((&text, "correct the line"));
            let text =
                format!("nothing is recorded, because an exclusion may be meant: `{shown}`, {text}{more}");
            return check("privacy", State::Fail, text).fix(hint.to_owned());
        }
        return check(
            "privacy",
            State::Warn,
            format!("`{shown}`, {text}{more}; the level in use is `{level}`"),
        )
        .fix(hint.to_owned());
    }
    let excluded = match config.excludes.len() {
        0 => String::new(),
        count => format!(", {} excluded", counted(count as u64, "pattern")),
    };
    check("privacy", State::Ok, format!("privacy level `{level}`{excluded}"))
}

fn spool(spool: &Spool) -> Vec<Check> {
    let stats = match spool.stats() {
        Ok(stats) => stats,
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            return vec![
                check("spool", State::Fail, format!("{error}: {cause}"))
                    .fix("check the permissions of the spool"),
            ];
        }
    };
    let mut checks = vec![check("spool", State::Ok, waiting(&stats))];
    if stats.quarantined > 0 {
        checks.push(
            check("quarantine", State::Warn, quarantined(stats.quarantined))
                .fix(format!("see why: cat '{}'/*.reason", spool.root().join("quarantine").display())),
        );
    }
    checks.push(lost(&stats));
    checks
}

/// Posts were acknowledged, so whatever is gone of them is a loss.
fn lost_posts(home: &Home) -> Option<Check> {
    let count = lost_posts_of(&home.data().join("ledger.db"));
    (count > 0).then(|| {
        let text = format!(
            "{} could not be written and were dropped, because too many were set aside",
            counted(count, "posted event")
        );
        check("lost_posts", State::Warn, text).fix(format!(
            "see why the rest were not written: cat '{}'/*.reason",
            home.data().join("ledger.db.aside").display()
        ))
    })
}

fn quarantined(count: u64) -> String {
    match count {
        1 => "1 file was put aside because it could not be read or kept".to_owned(),
        count => format!("{count} files were put aside because they could not be read or kept"),
    }
}

fn waiting(stats: &Stats) -> String {
    let bytes = size(stats.waiting_bytes);
    match stats.waiting {
        0 => "the spool is empty".to_owned(),
        1 => format!("1 event waits in the spool ({bytes})"),
        count => format!("{count} events wait in the spool ({bytes})"),
    }
}

fn lost(stats: &Stats) -> Check {
    let total = stats.lost_total();
    if total == 0 {
        return check("lost", State::Ok, "no event was lost by the hooks");
    }
    let by_reason: Vec<String> = stats
        .lost
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(reason, count)| format!("{} {count}", reason.as_str()))
        .collect();
    // One remedy, for the largest number: a list of remedies would not be read.
    let worst = stats.lost.iter().max_by_key(|(_, count)| *count).map(|(reason, _)| *reason);
    let fix = match worst {
        Some(Reason::Full) => "the spool was full: let the server read it, then losses stop",
        Some(Reason::DiskFull) => "free some space on the disk",
        Some(Reason::TooLarge | Reason::OversizeInput) => {
            "single events were over the limit; nothing to do unless the number grows"
        }
        Some(Reason::Quarantine) => {
            "files that could not be read were too many to keep: see the reasons of the rest"
        }
        Some(Reason::UnreadablePrivacy) => "fix `privacy.conf`: until then nothing is recorded",
        Some(Reason::Panic) => "this is a bug of the hook: please report it",
        _ => "check the permissions of the spool, and the disk",
    };
    check(
        "lost",
        State::Warn,
        format!("{} lost since `install`: {}", counted(total, "event"), by_reason.join(", ")),
    )
    .fix(fix)
}
