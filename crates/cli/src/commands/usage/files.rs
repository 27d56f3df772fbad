//! The answer of the agents' own files: nothing is stored, no server is asked, and only what tells of tokens is read.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_tracer_agents::sessions::Form;
use agent_tracer_agents::usage::{self, BilledTokens, ScannedAccount, UsageCollection};
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
    collections: BTreeMap<Agent, Box<dyn UsageCollection>>,
    failed: Vec<String>,
}

pub(super) fn items(
    question: &Question<'_>,
    folder: Option<&Path>,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<Vec<Item>, Failure> {
    // Tokens do not say which skill a response was given for: that follows from the rows around it.
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
    // A thread that panicked has read a part only: no sum is better than one that is too low.
    if all.len() < threads {
        return Err(Failure::new("a file could not be read completely"));
    }
    let mut notes = Vec::new();
    let mut all = all.into_iter();
    let mut whole = all.next().unwrap_or_default();
    for other in all {
        for (agent, collection) in other.collections {
            match whole.collections.entry(agent) {
                Entry::Occupied(mut known) => known.get_mut().merge(collection),
                Entry::Vacant(free) => drop(free.insert(collection)),
            }
        }
        whole.failed.extend(other.failed);
    }
    notes.append(&mut whole.failed);
    let unreadable: u64 = whole.collections.values().map(|collection| collection.unreadable()).sum();
    if unreadable > 0 {
        notes.push(format!("{unreadable} lines could not be read: the sums may be too low"));
    }
    let folders = folders(found);
    let mut spending = Vec::new();
    for (agent, collection) in whole.collections {
        spending.extend(responses(agent, collection.as_ref(), &folders, prices));
        spending.extend(residuals(agent, collection.as_ref(), &folders, prices));
    }
    Ok((spending, notes))
}

fn scan(file: &FoundFile, buffer: &mut [u8], into: &mut ScanResult) -> std::io::Result<()> {
    let agent = file.file.agent;
    let collection = match into.collections.entry(agent) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(free) => match usage::collection(agent) {
            Some(collection) => free.insert(collection),
            None => return Ok(()),
        },
    };
    let mut bytes = files::open(&file.path, file.file.form)?;
    collection.read(&file.path, &file.file, &mut bytes, buffer)
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

/// Returns the responses of an agent's files with their prices.
fn responses(
    agent: Agent,
    collection: &dyn UsageCollection,
    folders: &HashMap<String, PathBuf>,
    prices: &Prices,
) -> Vec<Spending> {
    let priced = collection.responses().map(|response| {
        let BilledTokens { tokens, cache_write_1h, web_searches, .. } = response.billed;
        // A file may name more than the whole, and the rest below must not wrap around.
        let hour = cache_write_1h.unwrap_or(0).min(tokens.cache_write);
        let spent = BilledUsage {
            cache_write_5m: tokens.cache_write - hour,
            cache_write_1h: hour,
            web_searches,
            tier: response.service_tier.and_then(Tier::from_name).unwrap_or_default(),
            ..BilledUsage::from(&tokens)
        };
        let cost = prices.cost(response.model, &spent);
        Spending {
            agent,
            session: response.session.to_owned(),
            who: response.subagent.map(str::to_owned),
            model: response.model.to_owned(),
            project: response
                .project
                .map_or_else(|| project(folders, response.session), |project| project.to_owned()),
            at: response.at.unwrap_or(Millis(0)),
            sums: ModelSums {
                spend: Spend::of_response(&tokens, cost.map(pico)),
                cache_write_1h: summand(hour),
                searches: summand(web_searches),
            },
            residual: None,
        }
    });
    priced.collect()
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
        // In the unit of sums a million dollars is a ninth of what 64 bits hold.
        let cost = cost.filter(|cost| (0.0..1e6).contains(cost));
        let cost = cost.map(|cost| (cost * DOLLAR as f64).round() as i64);
        let sums = sums_of(billed, Spend { responses: 0, ..Spend::of_response(&billed.tokens, cost) });
        (name.clone(), sums)
    });
    Account { started: scanned.started.map(|at| at.0), models: models.collect() }
}

/// Returns the usage that only the accounts of sessions know.
fn residuals(
    agent: Agent,
    collection: &dyn UsageCollection,
    folders: &HashMap<String, PathBuf>,
    prices: &Prices,
) -> Vec<Spending> {
    let mut counted: HashMap<&str, Vec<(i64, &str, ModelSums)>> = HashMap::new();
    for response in collection.responses() {
        let billed = response.billed;
        let sums = sums_of(&billed, Spend::of_response(&billed.tokens, Some(0)));
        let at = response.at.map_or(i64::MAX, |at| at.0);
        counted.entry(response.session).or_default().push((at, response.model, sums));
    }
    let mut all = Vec::new();
    for (session, accounts) in collection.accounts() {
        let Some(last) = accounts.last() else { continue };
        let account = account_of(last);
        let mut own = ByModel::new();
        for (at, model, sums) in counted.get(session).into_iter().flatten() {
            if account.started.is_none_or(|started| *at >= started) {
                *own.entry((*model).to_owned()).or_default() += *sums;
            }
        }
        let at = last.at.unwrap_or(Millis(0));
        let base = base(collection, session, &account);
        let left = residual(&account, &base, &own, Reasons::default(), at.0, prices);
        if left.lines.is_empty() {
            continue;
        }
        let reasons = folders.get(session).map(|path| reasons(collection, path)).unwrap_or_default();
        for line in left.lines {
            all.push(Spending {
                agent,
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
fn base(collection: &dyn UsageCollection, session: &str, account: &Account) -> ByModel {
    let (Some(started), Some(began)) = (account.started, collection.began(session)) else {
        return ByModel::new();
    };
    let mut best: Option<(Millis, &ScannedAccount)> = None;
    for (other, accounts) in collection.accounts().filter(|(other, _)| *other != session) {
        if collection.began(other).is_none_or(|other| other >= began) {
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

/// Returns why an account holds more than the rows, from the one file that is in question.
fn reasons(collection: &dyn UsageCollection, path: &Path) -> Reasons {
    let causes = collection.account_causes(&std::fs::read(path).unwrap_or_default());
    Reasons { compacted: causes.compacted, searched: causes.searched, cut_short: causes.cut_short }
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
