//! Sums usage by time, model, project and task, and in windows of five hours.

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::local_stretches;
use agent_tracer_ledger::insights::{self, Rollups};
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::project::bucket::Bucket;
use agent_tracer_ledger::project::measures::SKILL_RESPONSES;
use agent_tracer_ledger::project::presenters::{UsageParts, numbers};
use agent_tracer_ledger::project::spend::Spend;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::view::{Limit, Page, UsageBlock, UsageBucket};
use agent_tracer_ledger::{Answer, QueryError, Range, Usage, UsageBy, Zone};
use clickhouse::Row;
use serde::Deserialize;

use super::family::TaskColumns;
use super::numbers::tasks_of;
use super::task::tasks_filter;
use super::{Reader, TaskKey, keys_in};
use crate::clickhouse::spend_row::{SpendRow, spend_row};
use crate::clickhouse::write::TaskLine;

spend_row! {
    /// Sums the requests to a model in some tasks.
    #[derive(Row, Deserialize)]
    struct ModelRow {
        own {
            name: String,
            was_copied: u8,
        }
        spend {
            n: responses,
            f_input: input,
            f_output: output,
            f_cache_read: cache_read,
            f_cache_write: cache_write,
            f_cost: cost,
            f_unpriced: unpriced,
        }
    }
}

spend_row! {
    /// Sums the responses for a skill in some tasks.
    #[derive(Row, Deserialize)]
    struct SkillRow {
        own {
            name: String,
        }
        spend {
            n: responses,
            f_input: input,
            f_output: output,
            f_cache_read: cache_read,
            f_cache_write: cache_write,
            f_reasoning: reasoning,
            f_cost: cost,
            f_unpriced: unpriced,
        }
    }
}

/// Returns the usage of the tasks, grouped by a property that they share with others. The first is the root.
fn usage_by_member(family: &[TaskLine], by: UsageBy) -> UsageParts {
    let mut parts = UsageParts::default();
    for (place, line) in family.iter().enumerate() {
        let key = match by {
            UsageBy::Project => line.project.clone(),
            UsageBy::Agent => line.agent.clone(),
            UsageBy::AgentType => line.agent_type.clone(),
            UsageBy::Owner => line.owner.clone(),
            UsageBy::Machine => line.machine.clone(),
            _ => line.task.clone(),
        };
        if place == 0 {
            parts.add_root(key, &line.task_spend());
        } else {
            parts.add_descendant(key, &line.task_spend());
        }
    }
    parts
}

impl Reader {
    /// Days, weeks or months of the asker, oldest first. Those without any response are left out.
    pub(super) fn usage_over_time(
        &self,
        range: &Range,
        by: UsageBy,
        zone: &dyn Zone,
    ) -> Answer<Page<UsageBucket>> {
        let after = cursor::page_start::<1>(Listing::Usage, &range.paging)?;
        let Some(window) = self.window(range)? else { return Ok(Page::whole(Vec::new())) };
        let span = window.span;
        // Quarter-hours and not days: a day of the asker begins at any quarter of a UTC day, in zones such as that of
        // Nepal.
        let quarters = insights::quarters(self, &window, span)?;
        let mut items = Vec::new();
        for stretch in local_stretches(span.0, span.1, by, zone) {
            let mut bucket = Bucket::default();
            for (_, quarter) in quarters.range(stretch.from..stretch.to) {
                bucket.add_all(quarter, 1);
            }
            if !bucket.is_empty() && after.is_none_or(|[after]| stretch.at > after) {
                items.push((stretch, bucket));
            }
        }
        let limit = cursor::limit(&range.paging);
        let page = cursor::cut(Listing::Usage, limit, items, |(stretch, _)| [stretch.at]);
        Ok(page.map(|(stretch, bucket)| numbers::usage_bucket(stretch.name, &bucket)))
    }

    /// Tasks with events in the range, newest first, each with all that it spent.
    pub(super) fn usage_of_tasks(&self, range: &Range) -> Answer<Page<UsageBucket>> {
        let before = cursor::page_start::<2>(Listing::Usage, &range.paging)?;
        if let (Some(since), Some(until)) = (range.since, range.until)
            && since > until
        {
            return Err(QueryError::Bad("`since` is after `until`".to_owned()));
        }
        let limit = cursor::limit(&range.paging);
        let mut all = vec![self.task_filter()];
        all.extend(tasks_filter(&tasks_of(range)));
        let found = self.task_positions(&all, before, limit + 1)?;
        let page = cursor::cut(Listing::Usage, limit, found, |listed| [listed.last, listed.place]);
        let items = self.lines_of(&page.items)?.into_iter().map(|line| UsageBucket {
            usage: line.own_usage().view(),
            label: Some(line.title).filter(|title| !title.is_empty()),
            owner: Some(line.owner),
            key: line.task,
        });
        Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
    }

    /// Returns the usage of a task and all below it by group, the most expensive first. By time there is only one way: by model.
    ///
    /// # Errors
    /// If there is no such task, or the database cannot answer.
    pub fn task_usage(&self, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
        let family: Vec<TaskLine> = self.family(id, true)?;
        let parts = match by {
            UsageBy::Skill => self.usage_by_skill(&family)?,
            UsageBy::Project
            | UsageBy::Agent
            | UsageBy::AgentType
            | UsageBy::Task
            | UsageBy::Owner
            | UsageBy::Machine => usage_by_member(&family, by),
            UsageBy::Model | UsageBy::Day | UsageBy::Week | UsageBy::Month => self.usage_by_model(&family)?,
        };
        Ok(parts.page())
    }

    fn usage_by_skill(&self, family: &[TaskLine]) -> Answer<UsageParts> {
        let keys: Vec<TaskKey> = family.iter().map(TaskColumns::key).collect();
        let answered = self.rows::<SkillRow>(&format!(
            "SELECT key AS name, sum({SKILL_RESPONSES}) AS n, sum(input) AS f_input, sum(output) AS f_output, \
               sum(cache_read) AS f_cache_read, sum(cache_write) AS f_cache_write, sum(reasoning) AS f_reasoning, \
               sum(cost) AS f_cost, sum(unpriced) AS f_unpriced \
             FROM (SELECT dim, key, {SKILL_RESPONSES}, spends, input, output, cache_read, cache_write, reasoning, cost, unpriced \
                   FROM fact FINAL ARRAY JOIN sums.dim AS dim, sums.key AS key, sums.{SKILL_RESPONSES} AS {SKILL_RESPONSES}, sums.spends AS spends \
                   WHERE (owner, task) IN {}) \
             WHERE dim = {} AND spends = 1 GROUP BY name HAVING n > 0",
            keys_in(&keys),
            Dim::Skill.code()
        ))?;
        let mut skills = UsageParts::default();
        for row in answered {
            let spend = row.spend();
            skills.add(row.name, spend);
        }
        Ok(skills)
    }

    fn usage_by_model(&self, family: &[TaskLine]) -> Answer<UsageParts> {
        let keys: Vec<TaskKey> = family.iter().map(TaskColumns::key).collect();
        let answered = self.rows::<ModelRow>(&format!(
            "SELECT toString(model) AS name, copied AS was_copied, toInt64(count()) AS n, sum(input) AS f_input, \
             sum(output) AS f_output, sum(cache_read) AS f_cache_read, sum(cache_write) AS f_cache_write, \
             sum(cost) AS f_cost, sum(unpriced) AS f_unpriced FROM fact FINAL \
             WHERE (owner, task) IN {} AND list = {} AND model <> '' GROUP BY name, was_copied",
            keys_in(&keys),
            List::Response.code()
        ))?;
        let mut models = UsageParts::default();
        for row in answered {
            let spend = row.spend();
            if row.was_copied == 1 {
                models.add_copies(row.name, spend.responses);
            } else {
                models.add(row.name, spend);
            }
        }
        for residual in family.iter().filter_map(|line| line.task_spend().residual) {
            models.add_residual(&residual);
        }
        Ok(models)
    }
}

impl Usage for Reader {
    fn usage(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        insights::usage(self, range, by, zone)
    }

    fn blocks(&self, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
        insights::blocks(self, now, range)
    }

    fn limits(&self, now: Millis) -> Answer<Page<Limit>> {
        Self::limits(self, now)
    }
}
