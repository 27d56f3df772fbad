//! `agent-tracer search`: rows that hold words, narrowed by words with a meaning.

mod chips;

use std::process::ExitCode;

use agent_tracer_event::TaskId;
use agent_tracer_ledger::view::Hit;
use agent_tracer_ledger::{Range, SearchFilter};

use crate::arguments::{Options, Search};
use crate::commands::show::paint_of;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::local_time::LocalTime;
use crate::output::{Output, Paint, one_line};
use crate::reading::{Reading, json};
use crate::{figures, table};
use chips::Chips;

pub(super) fn run(
    arguments: &Search,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let chips = Chips::of(&arguments.words)?;
    let reading = Reading::open(options, environment)?;
    let filter = filter(&chips, &reading, environment)?;
    if !can_be_found(&filter) {
        // Everything else only narrows what these find.
        return Err(Failure::usage("the search is empty")
            .hint("add a word, `tool:`, `state:`, `kind:`, `task:` or `since:`"));
    }
    let page = reading.list(Some(arguments.limit), arguments.cursor.clone(), |store, paging| {
        let range = Range { paging, ..filter.range.clone() };
        store.search(&SearchFilter { range, ..filter.clone() })
    })?;
    if arguments.json {
        output.data(&json(&page)?)?;
    } else {
        let zone = LocalTime::of(environment);
        let text: String = page.items.iter().map(|hit| render(hit, &zone, output)).collect();
        output.data(&text)?;
    }
    if page.items.is_empty() {
        reading.say_empty(output, environment, true)?;
    } else if page.next_cursor.is_some() && !arguments.json {
        output
            .say(&format!("there may be more; `--limit {}` shows them", arguments.limit.saturating_mul(5)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn can_be_found(filter: &SearchFilter) -> bool {
    !filter.q.is_empty()
        || filter.tool.is_some()
        || filter.state.is_some()
        || filter.kind.is_some()
        || filter.task.is_some()
        || filter.range.since.is_some()
        || filter.range.until.is_some()
}

fn filter(chips: &Chips, reading: &Reading, environment: &Environment) -> Result<SearchFilter, Failure> {
    let zone = LocalTime::of(environment);
    let (since, until) = zone.range(chips.since.as_deref(), chips.until.as_deref(), reading.now)?;
    let task = match &chips.task {
        Some(text) => TaskId::parse(&reading.task(text)?.id),
        None => None,
    };
    Ok(SearchFilter {
        q: chips.words.clone(),
        tool: chips.tool.clone(),
        state: chips.state.map(|state| state.as_str().to_owned()),
        kind: chips.kind,
        longer_than_ms: chips.longer_than_ms,
        task,
        range: Range {
            since,
            until,
            project: reading.project(chips.project.as_deref(), environment)?,
            agent: chips.agent,
            agent_type: chips.agent_type.clone(),
            ..Range::default()
        },
    })
}

/// Renders a hit in two lines: its time, title and task, and the matching text with the found words marked.
fn render(hit: &Hit, zone: &LocalTime, output: &Output) -> String {
    let row = &hit.row;
    let mut head = format!("{}  ", zone.full(row.occurred_at));
    head.push_str(
        &output.paint(Paint::Bold, &one_line(row.tool_name.as_deref().unwrap_or(row.kind.as_str()))),
    );
    if let Some(state) = row.state {
        let word = state.as_str();
        head.push_str(&format!(
            " {}",
            paint_of(state).map_or(word.to_owned(), |paint| output.paint(paint, word))
        ));
    }
    if let Some(ended) = row.ended_at {
        let took = u64::try_from(ended.0.saturating_sub(row.occurred_at.0)).unwrap_or(0);
        head.push_str(&format!(" {}", figures::duration(took)));
    }
    let title = table::cut(&one_line(&hit.task_title), 60);
    head.push_str(&format!(
        "  {}",
        output.paint(Paint::Dim, &format!("{} {title}", figures::short_id(&row.task_id)))
    ));
    format!("{head}\n    {}\n", marked(&one_line(&hit.snippet), output))
}

/// Returns the snippet with its words in bold; without colour as plain text.
fn marked(snippet: &str, output: &Output) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some((before, behind)) = rest.split_once('⟦') {
        text.push_str(before);
        let Some((word, behind)) = behind.split_once('⟧') else {
            rest = behind;
            break;
        };
        text.push_str(&output.paint(Paint::Bold, word));
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_words_that_were_found_are_not_shown_as_such() {
        let output = Output::plain();
        assert_eq!(marked("run ⟦cargo⟧ ⟦test⟧ now", &output), "run cargo test now");
        assert_eq!(marked("half a ⟦mark", &output), "half a mark");
        assert_eq!(marked("", &output), "");
    }
}
