//! The context chart of every captured session: from what the client says, else from its responses.

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::view::{ContextPoint, ContextPointKind, Task};
use agent_tracer_ledger::{Paging, TaskFilter};
use agent_tracer_testkit::{scenario, scenarios};

use crate::queries::every;
use crate::world::World;

fn charts(world: &World) -> Vec<(Task, Vec<ContextPoint>)> {
    let store = world.ledger.store();
    let tasks = every(|paging| store.tasks(Millis(0), &TaskFilter { paging, ..TaskFilter::default() }));
    let chart =
        |task: &Task| store.context(&TaskId::parse(&task.id).unwrap(), &Paging::default()).unwrap().items;
    tasks.into_iter().map(|task| (task.clone(), chart(&task))).collect()
}

#[test]
fn every_captured_session_that_was_answered_has_a_chart_that_says_how_full_its_window_was() {
    let (mut reported, mut estimated) = (0, 0);
    for scenario in scenarios() {
        let world = World::with(&scenario.observed(None), usize::MAX);
        for (task, points) in charts(&world) {
            let about = format!("{} {}", scenario.name, task.runtime_session_id);
            assert!(points.windows(2).all(|pair| pair[0].at <= pair[1].at), "{about}");
            let measures: Vec<&ContextPoint> =
                points.iter().filter(|point| point.kind == ContextPointKind::Snapshot).collect();
            let is_estimated = measures.iter().any(|point| point.estimated);
            assert!(!is_estimated || measures.iter().all(|point| point.estimated), "{about}: never both");
            if task.usage.provenance.responses > 0 {
                assert!(!measures.is_empty(), "{about}: {points:?}");
            }
            for point in measures.iter().filter(|point| point.estimated) {
                let (full, total) = (point.used_pct.unwrap(), point.total_tokens.unwrap());
                let window = point.window_size.unwrap();
                assert!(
                    point.model.is_some() && (0.0..=100.0).contains(&full) && total > 0,
                    "{about}: {point:?}"
                );
                assert!(
                    (full - total as f64 * 100.0 / window as f64).abs() < 0.06 || full == 100.0,
                    "{point:?}"
                );
            }
            reported += usize::from(!measures.is_empty() && !is_estimated);
            estimated += usize::from(is_estimated);
        }
    }
    assert!(reported > 20 && estimated > 50, "{reported} reported, {estimated} estimated");
}

#[test]
fn compactions_and_changes_of_the_model_are_marked_on_every_channel() {
    let marks = |name: &str, kind: ContextPointKind| -> usize {
        let world = World::with(&scenario(name).observed(None), 20);
        let points = charts(&world).into_iter().flat_map(|(_, points)| points);
        points.filter(|point| point.kind == kind).count()
    };
    for name in ["2.1.325/compact", "2.1.325/compact_auto", "2.1.325/compact_late", "2.1.325/rc_tui"] {
        assert!(marks(name, ContextPointKind::Compaction) > 0, "{name}");
        assert!(marks(name, ContextPointKind::Snapshot) > 0, "{name}");
    }
    assert!(marks("codex/0.166.0/compact", ContextPointKind::Compaction) > 0);
    assert!(marks("2.1.325/model", ContextPointKind::ModelSwitch) > 0);
    let world = World::with(&scenario("2.1.325/model").observed(None), 20);
    let models: std::collections::BTreeSet<String> =
        charts(&world).into_iter().flat_map(|(_, points)| points).filter_map(|point| point.model).collect();
    assert!(models.len() > 1, "a band for each model: {models:?}");
}

#[test]
fn lanes_stand_by_when_their_agents_began_whatever_was_reported_first() {
    let reported = scenario("2.1.325/agent_parallel").observed(None);
    let mut backwards = reported.clone();
    backwards.reverse();
    let order = |observed| {
        let world = World::with(observed, 1);
        let store = world.ledger.store();
        let tasks = every(|paging| store.tasks(Millis(0), &TaskFilter { paging, ..TaskFilter::default() }));
        let root = tasks.iter().find(|task| task.parent_task_id.is_none()).unwrap();
        let drawn = store.lanes(&TaskId::parse(&root.id).unwrap(), None, None, 100).unwrap();
        let mut lanes: Vec<String> = drawn.strips.into_iter().map(|strip| strip.task_id).collect();
        lanes.dedup();
        lanes
    };
    let lanes = order(&reported);
    assert!(lanes.len() > 2, "{lanes:?}");
    assert_eq!(lanes, order(&backwards));
}
