//! Sums of what is shown.

use agent_tracer_ledger::view::UsageView;

/// Adds one usage to another.
pub(super) fn add(sum: &mut UsageView, more: &UsageView) {
    sum.tokens = sum.tokens.plus(&more.tokens);
    sum.cost_usd += more.cost_usd;
    sum.provenance.responses += more.provenance.responses;
    sum.provenance.unpriced += more.provenance.unpriced;
    sum.provenance.copies += more.provenance.copies;
    if let Some(residual) = &more.residual {
        let left = sum.residual.get_or_insert_default();
        left.tokens = left.tokens.plus(&residual.tokens);
        left.cost_usd += residual.cost_usd;
        left.reason = agent_tracer_ledger::project::residual::join_reasons([
            left.reason.as_str(),
            residual.reason.as_str(),
        ]);
    }
}
