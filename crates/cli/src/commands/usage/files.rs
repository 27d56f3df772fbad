//! The answer of the agents' own files: nothing is stored, no server is asked, and only what tells of tokens is read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_tracer_agents::claude::transcript::BilledTokens;
use agent_tracer_agents::claude::transcript::usage::{
    ScannedAccount, UsageBook, UsageScan, is_counted_cut_short,
};
use agent_tracer_agents::codex::rollout::{RolloutScan, ScannedResponse};
use agent_tracer_agents::sessions::Form;
use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::files::{self, FoundFile, Root};
use agent_tracer_ledger::engine::usage_sum::UsageSum;
use agent_tracer_ledger::project::blocks::{blocks, pace};
use agent_tracer_ledger::project::residual::{Account, ByModel, Reasons, residual};
use agent_tracer_ledger::project::spend::{DOLLAR, ModelSums, Spend, summand};
use agent_tracer_ledger::view::{BlockForecast, Residual, UsageView};
use agent_tracer_prices::{BilledUsage, PicoDollars, Prices, Tier};

use super::{Item, Question, UsagePart, Window, sum, whole};
use crate::arguments::{ByName, Options, PeriodName};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::agent_of;
use crate::sources;

/// Size of one read: it stays in the nearer caches while it is scanned.
const CHUNK: usize = 256 * 1024;

/// One response, or what only an account knows.
struct Spending {
    agent: Agent,
    /// The root of the tree.
    session: String,
    /// The subagent, if one asked.
    who: Option<String>,
    model: String,
    project: String,
    at: Millis,
    sums: ModelSums,
    /// Why it is known from an account alone.
    residual: Option<String>,
}

/// Holds the results of one thread.
#[derive(Default)]
struct ScanResult {
    book: UsageBook,
    codex: Vec<ScannedResponse>,
    failed: Vec<String>,
    unreadable: u64,
}

pub(super) fn items(
    question: &Question<'_>,
    folder: Option<&Path>,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<Vec<Item>, Failure> {
    if question.arguments.by == Some(ByName::Skill) {
        return whole::items(question, folder, options, environment, output);
    }
    let found = find(question, folder, options, environment)?;
    let prices = prices(options, environment)?;
    let (spending, notes) = read(&found, &prices)?;
    for note in notes {
        output.say(&note)?;
    }
    let mut spending: Vec<Spending> =
        spending.into_iter().filter(|spending| question.holds(spending.at)).collect();
    spending.sort_by_key(|spending| spending.at);
    Ok(match question.arguments.period {
        PeriodName::Blocks => windows(question, spending),
        PeriodName::Session => grouped(question, spending, |spending| spending.session.clone()),
        _ => grouped(question, spending, |spending| question.stretch(spending.at)),
    })
}

/// The prices of the user's home, as the ledger has them; none of its own is no failure.
pub(super) fn prices(options: &Options, environment: &Environment) -> Result<Prices, Failure> {
    match environment.home(options.home.as_deref()) {
        Ok((home, _)) => sources::prices(&home),
        Err(_) => Ok(Prices::embedded()),
    }
}

fn find(
    question: &Question<'_>,
    folder: Option<&Path>,
    options: &Options,
    environment: &Environment,
) -> Result<Vec<FoundFile>, Failure> {
    let wanted = question.arguments.agent.map(agent_of);
    let roots = roots(question, folder, options, environment)?;
    let mut found = Vec::new();
    for root in &roots {
        files::find(root, &mut |file| {
            let is_wanted = wanted.is_none_or(|wanted| wanted == file.file.agent);
            if file.file.form != Form::Description && is_wanted {
                found.push(file);
            }
        });
    }
    // The largest first, so that no thread ends with a big one alone.
    found.sort_by_key(|file| std::cmp::Reverse(file.facts.length));
    Ok(found)
}

/// The folders that are meant.
pub(super) fn roots(
    question: &Question<'_>,
    folder: Option<&Path>,
    options: &Options,
    environment: &Environment,
) -> Result<Vec<Root>, Failure> {
    let wanted = question.arguments.agent.map(agent_of);
    Ok(match folder {
        Some(folder) => {
            let folder = environment.absolute(folder);
            if !folder.is_dir() {
                return Err(Failure::new(format!("no folder `{}`", folder.display())));
            }
            sources::roots_in(folder, wanted)
        }
        None => {
            let (tracer, _) = environment.home(options.home.as_deref())?;
            let mut roots = Vec::new();
            for agent in Agent::ALL.iter().filter(|agent| wanted.is_none_or(|wanted| wanted == **agent)) {
                roots.extend(sources::roots(*agent, &tracer, environment)?);
            }
            roots
        }
    })
}

fn read(found: &[FoundFile], prices: &Prices) -> Result<(Vec<Spending>, Vec<String>), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(found.len().max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = ScanResult::default();
        let mut buffer = vec![0; CHUNK];
        while let Some(file) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = scan(file, &mut buffer, &mut mine) {
                mine.failed.push(format!("cannot read `{}`: {error}", file.path.display()));
            }
        }
        mine
    };
    let all: Vec<ScanResult> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    if all.len() < threads {
        return Err(Failure::new("a file could not be read completely"));
    }
    let mut notes = Vec::new();
    let mut all = all.into_iter();
    let mut whole = all.next().unwrap_or_default();
    for other in all {
        whole.book.merge(&other.book);
        whole.codex.extend(other.codex);
        whole.failed.extend(other.failed);
        whole.unreadable += other.unreadable;
    }
    notes.append(&mut whole.failed);
    if whole.unreadable > 0 {
        notes.push(format!("{} lines could not be read: the sums may be too low", whole.unreadable));
    }
    let folders = folders(found);
    let mut spending = claude(&whole.book, &folders, prices);
    spending.extend(left(&whole.book, &folders, prices));
    spending.extend(codex(whole.codex, prices));
    Ok((spending, notes))
}

fn scan(file: &FoundFile, buffer: &mut [u8], into: &mut ScanResult) -> std::io::Result<()> {
    let mut bytes = files::open(&file.path, file.file.form)?;
    match file.file.agent {
        Agent::CLAUDE_CODE => {
            let mut scan = UsageScan::new((&file.file).into());
            while let Some(chunk) = next(&mut bytes, buffer)? {
                scan.push(chunk, &mut into.book);
            }
            let counts = scan.finish(&mut into.book);
            into.unreadable += counts.unreadable + counts.malformed;
        }
        Agent::CODEX => {
            let mut scan = RolloutScan::new(&file.path.to_string_lossy());
            let mut each = |response| into.codex.push(response);
            while let Some(chunk) = next(&mut bytes, buffer)? {
                scan.push(chunk, &mut each);
            }
            scan.finish(&mut each);
        }
        _ => {}
    }
    Ok(())
}

fn next<'b>(bytes: &mut impl Read, buffer: &'b mut [u8]) -> std::io::Result<Option<&'b [u8]>> {
    let read = bytes.read(buffer)?;
    Ok(buffer.get(..read).filter(|chunk| !chunk.is_empty()))
}

/// The file of each session.
fn folders(found: &[FoundFile]) -> HashMap<String, PathBuf> {
    let own = found.iter().filter(|found| found.file.agent_id.is_none());
    let own = own.filter_map(|found| Some((found.file.session.clone()?, found.path.clone())));
    own.collect()
}

/// Returns the display name of a transcript's folder: the project, as far as the client's spelling shows it.
fn project(folders: &HashMap<String, PathBuf>, session: &str) -> String {
    let folder = folders.get(session).and_then(|path| path.parent()?.file_name()?.to_str());
    folder.unwrap_or_default().to_owned()
}

fn claude(book: &UsageBook, folders: &HashMap<String, PathBuf>, prices: &Prices) -> Vec<Spending> {
    let each = book.responses().map(|response| {
        let BilledTokens { tokens, cache_write_1h, web_searches, .. } = response.billed;
        let hour = cache_write_1h.unwrap_or(0).min(tokens.cache_write);
        let spent = BilledUsage {
            cache_write_5m: tokens.cache_write - hour,
            cache_write_1h: hour,
            web_searches,
            ..BilledUsage::from(&tokens)
        };
        let cost = prices.cost(response.model, &spent);
        Spending {
            agent: Agent::CLAUDE_CODE,
            session: response.session.to_owned(),
            who: response.agent.map(str::to_owned),
            model: response.model.to_owned(),
            project: project(folders, response.session),
            at: response.at.unwrap_or(Millis(0)),
            sums: ModelSums {
                spend: Spend::of_response(&tokens, cost.map(pico)),
                cache_write_1h: summand(hour),
                searches: summand(web_searches),
            },
            residual: None,
        }
    });
    each.collect()
}

/// Returns a cost in the unit of sums.
fn pico(cost: PicoDollars) -> i64 {
    i64::try_from(cost.0).unwrap_or(i64::MAX)
}

/// Returns the sums of a model with this spend: the parts of it that a price depends on are in its tokens.
fn sums_of(billed: &BilledTokens, spend: Spend) -> ModelSums {
    ModelSums {
        spend: Spend { reasoning: 0, ..spend },
        cache_write_1h: summand(billed.cache_write_1h.unwrap_or(0)),
        searches: summand(billed.web_searches),
    }
}

fn account_of(scanned: &ScannedAccount) -> Account {
    let models = scanned.models.iter().map(|(name, (billed, cost))| {
        let cost = cost.filter(|cost| (0.0..1e6).contains(cost));
        let cost = cost.map(|cost| (cost * DOLLAR as f64).round() as i64);
        let sums = sums_of(billed, Spend { responses: 0, ..Spend::of_response(&billed.tokens, cost) });
        (name.clone(), sums)
    });
    Account { started: scanned.started.map(|at| at.0), models: models.collect() }
}

/// Returns the usage known only to the accounts of sessions.
fn left(book: &UsageBook, folders: &HashMap<String, PathBuf>, prices: &Prices) -> Vec<Spending> {
    let mut counted: HashMap<&str, Vec<(i64, &str, ModelSums)>> = HashMap::new();
    for response in book.responses() {
        let billed = response.billed;
        let sums = sums_of(&billed, Spend::of_response(&billed.tokens, Some(0)));
        let at = response.at.map_or(i64::MAX, |at| at.0);
        counted.entry(response.session).or_default().push((at, response.model, sums));
    }
    let mut all = Vec::new();
    for (session, accounts) in book.accounts() {
        let Some(last) = accounts.last() else { continue };
        let account = account_of(last);
        let mut own = ByModel::new();
        for (at, model, sums) in counted.get(session).into_iter().flatten() {
            if account.started.is_none_or(|started| *at >= started) {
                *own.entry((*model).to_owned()).or_default() += *sums;
            }
        }
        let at = last.at.unwrap_or(Millis(0));
        let base = base(book, session, &account);
        let left = residual(&account, &base, &own, Reasons::default(), at.0, prices);
        if left.lines.is_empty() {
            continue;
        }
        let reasons = folders.get(session).map(|path| reasons(path)).unwrap_or_default();
        for line in left.lines {
            all.push(Spending {
                agent: Agent::CLAUDE_CODE,
                session: session.to_owned(),
                who: None,
                model: line.model,
                project: project(folders, session),
                at,
                sums: line.sums,
                residual: Some(reasons.text().to_owned()),
            });
        }
    }
    all
}

/// Returns the account that a fork started from: the last one of the session that counts since the same time and
/// precedes it.
fn base(book: &UsageBook, session: &str, account: &Account) -> ByModel {
    let (Some(started), Some(began)) = (account.started, book.began(session)) else { return ByModel::new() };
    let mut best: Option<(Millis, &ScannedAccount)> = None;
    for (other, accounts) in book.accounts().filter(|(other, _)| *other != session) {
        if book.began(other).is_none_or(|other| other >= began) {
            continue;
        }
        for known in accounts {
            let Some(at) = known.at.filter(|at| *at <= began) else { continue };
            if known.started == Some(Millis(started)) && best.is_none_or(|(newest, _)| at >= newest) {
                best = Some((at, known));
            }
        }
    }
    best.map(|(_, known)| account_of(known).models).unwrap_or_default()
}

/// Why an account holds more than the rows: looked up in the one file that is in question.
fn reasons(path: &Path) -> Reasons {
    let text = std::fs::read(path).unwrap_or_default();
    let has = |needle: &[u8]| memchr::memmem::find(&text, needle).is_some();
    Reasons {
        compacted: has(b"\"compact_boundary\""),
        searched: has(b"\"name\":\"WebSearch\""),
        cut_short: text.split(|byte| *byte == b'\n').any(is_counted_cut_short),
    }
}

fn codex(responses: Vec<ScannedResponse>, prices: &Prices) -> Vec<Spending> {
    let mut known: HashSet<(String, String)> = HashSet::new();
    let mut all = Vec::with_capacity(responses.len());
    for response in responses {
        if !known.insert((response.thread.clone(), response.key.clone())) {
            continue;
        }
        let tier = response.service_tier.as_deref().and_then(Tier::from_name).unwrap_or_default();
        let usage = response.usage;
        let cost = prices.cost(&response.model, &BilledUsage { tier, ..BilledUsage::from(&usage) });
        all.push(Spending {
            agent: Agent::CODEX,
            who: (response.thread != response.root).then_some(response.thread),
            session: response.root,
            model: response.model,
            project: response.cwd,
            at: response.at,
            sums: ModelSums { spend: Spend::of_response(&usage, cost.map(pico)), ..ModelSums::default() },
            residual: None,
        });
    }
    all
}

fn view(spending: &Spending) -> UsageView {
    let spend = spending.sums.spend;
    let usage = match &spending.residual {
        None => UsageSum::from(spend),
        // What an account alone knows is in the residual, which the view adds.
        Some(reason) => UsageSum {
            spend: Spend { responses: spend.responses, unpriced: spend.unpriced, ..Spend::default() },
            residual: Some(Residual { reason: reason.clone(), ..Residual::of(&spend) }),
            ..UsageSum::default()
        },
    };
    usage.view()
}

/// Holds the sums of one line.
#[derive(Default)]
struct Sums {
    usage: UsageView,
    parts: BTreeMap<String, UsageView>,
    agents: BTreeMap<String, UsageView>,
    last: i64,
}

impl Sums {
    fn add(&mut self, question: &Question<'_>, spending: &Spending) {
        let usage = view(spending);
        sum::add(&mut self.usage, &usage);
        self.last = self.last.max(spending.at.0);
        let part = match question.arguments.by {
            Some(ByName::Model) => Some(spending.model.clone()),
            Some(ByName::Project) => Some(spending.project.clone()),
            Some(ByName::Agent) => Some(spending.agent.to_string()),
            Some(ByName::Skill) | None => None,
        };
        if let Some(part) = part {
            sum::add(self.parts.entry(part).or_default(), &usage);
        }
        if let (Some(who), PeriodName::Session) = (&spending.who, question.arguments.period) {
            sum::add(self.agents.entry(who.clone()).or_default(), &usage);
        }
    }

    fn item(self, key: String, block: Option<Window>) -> Item {
        let parts = |all: BTreeMap<String, UsageView>| {
            let mut parts: Vec<UsagePart> =
                all.into_iter().map(|(key, usage)| UsagePart { key, usage }).collect();
            parts.sort_by(|one, two| two.usage.cost_usd.total_cmp(&one.usage.cost_usd));
            parts
        };
        Item {
            key,
            label: None,
            usage: self.usage,
            parts: parts(self.parts),
            agents: parts(self.agents),
            block,
        }
    }
}

fn grouped(question: &Question<'_>, all: Vec<Spending>, key: impl Fn(&Spending) -> String) -> Vec<Item> {
    let mut groups: BTreeMap<String, Sums> = BTreeMap::new();
    for spending in &all {
        groups.entry(key(spending)).or_default().add(question, spending);
    }
    let mut groups: Vec<(String, Sums)> = groups.into_iter().collect();
    if question.arguments.period == PeriodName::Session {
        groups.sort_by_key(|(_, sums)| sums.last);
    }
    groups.into_iter().map(|(key, sums)| sums.item(key, None)).collect()
}

fn windows(question: &Question<'_>, all: Vec<Spending>) -> Vec<Item> {
    let now = question.now.0;
    let each = blocks(all.into_iter().map(|spending| (spending.at.0, spending)));
    let items = each.into_iter().map(|block| {
        let mut sums = Sums::default();
        for spending in &block.pieces {
            sums.add(question, spending);
        }
        let tokens = crate::figures::tokens(&sums.usage) as f64;
        let paces = pace(block.first, block.to, now, tokens).zip(pace(
            block.first,
            block.to,
            now,
            sums.usage.cost_usd,
        ));
        let window = Window {
            ends_at: Millis(block.to),
            is_active: paces.is_some(),
            forecast: paces
                .map(|(tokens, cost)| BlockForecast::new(tokens, cost, sums.usage.provenance.unpriced)),
        };
        sums.item(Millis(block.from).to_string(), Some(window))
    });
    items.collect()
}
