//! Tools that let something happen later.

use agent_tracer_event::semantics::{EntityType, Importance};
use agent_tracer_event::{Lane, attributes};
use serde_json::Value;

use super::Meaning;
use super::row::{COORDINATE, Row, flag, id, number, text};
use crate::text::line;

// The second is how an older document spells it.
const SCHEDULE: &[&str] = &["cron", "schedule"];

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["CronCreate"],
        label: Some("Cron create"),
        operation: "create",
        entity: Some((EntityType::Cron, SCHEDULE)),
        keep: &[
            text(SCHEDULE, attributes::CRON, 200),
            flag(&["recurring"], attributes::RECURRING),
            flag(&["durable"], attributes::DURABLE),
            id(&["id"], attributes::ID),
        ],
        body: &["prompt"],
        title: |input| match (input.text(SCHEDULE), input.text(&["prompt"])) {
            (Some(cron), Some(prompt)) => format!("Schedule at {}: {}", line(cron, 40), line(prompt, 60)),
            (Some(cron), None) => format!("Schedule at {}", line(cron, 40)),
            (None, Some(prompt)) => format!("Schedule: {}", line(prompt, 80)),
            (None, None) => "Schedule a prompt".to_owned(),
        },
        also: Some(scheduled),
        ..COORDINATE
    },
    Row {
        names: &["CronDelete"],
        label: Some("Cron delete"),
        operation: "delete",
        entity: Some((EntityType::Cron, &["id"])),
        keep: &[id(&["id"], attributes::ID)],
        title: |input| match input.id(&["id"]) {
            Some(id) => format!("Delete schedule {id}"),
            None => "Delete a schedule".to_owned(),
        },
        also: Some(scheduled),
        ..COORDINATE
    },
    Row {
        names: &["CronList"],
        label: Some("Cron list"),
        operation: "list",
        importance: Importance::Minor,
        title: |_| "List schedules".to_owned(),
        also: Some(scheduled),
        ..COORDINATE
    },
    Row {
        names: &["ScheduleWakeup"],
        label: Some("Schedule wake-up"),
        lane: Lane::Background,
        operation: "create",
        keep: &[
            number(&["delaySeconds"], attributes::DELAY_SECONDS),
            text(&["reason"], attributes::REASON, 400),
            flag(&["stop"], attributes::STOP),
        ],
        body: &["prompt"],
        title: |input| {
            if input.flag(&["stop"]) == Some(true) {
                return "Cancel the wake-up".to_owned();
            }
            let why = input.text(&["reason"]).map_or(String::new(), |why| format!(": {}", line(why, 70)));
            match input.number(&["delaySeconds"]) {
                Some(seconds) => format!("Wake up in {}{why}", duration(seconds)),
                None => format!("Schedule a wake-up{why}"),
            }
        },
        also: Some(scheduled),
        ..COORDINATE
    },
    Row {
        names: &["RemoteTrigger"],
        label: Some("Remote trigger"),
        operation: "trigger",
        keep: &[
            text(&["action"], attributes::TRIGGER_ACTION, 60),
            id(&["trigger_id"], attributes::TRIGGER_ID),
        ],
        title: |input| match input.text(&["action"]) {
            Some(action) => format!("Remote trigger: {}", line(&action.replace('_', " "), 60)),
            None => "Remote trigger".to_owned(),
        },
        also: Some(scheduled),
        ..COORDINATE
    },
];

fn scheduled(_input: &super::input::Input<'_>, meaning: &mut Meaning) {
    meaning.metadata.insert(attributes::ACTIVITY_TYPE.to_owned(), Value::from("schedule"));
}

fn duration(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
