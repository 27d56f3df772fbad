//! Sums of what is shown.

use agent_tracer_ledger::view::UsageView;

/// Adds one usage to another.
pub(super) fn add(sum: &mut UsageView, more: &UsageView) {
    sum.input_tokens = sum.input_tokens.saturating_add(more.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(more.output_tokens);
    sum.cache_read_tokens = sum.cache_read_tokens.saturating_add(more.cache_read_tokens);
    sum.cache_creation_tokens = sum.cache_creation_tokens.saturating_add(more.cache_creation_tokens);
    sum.reasoning_tokens = match (sum.reasoning_tokens, more.reasoning_tokens) {
        (None, None) => None,
        (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
    };
    sum.cost_usd += more.cost_usd;
    sum.provenance.responses += more.provenance.responses;
    sum.provenance.unpriced += more.provenance.unpriced;
    sum.provenance.copies += more.provenance.copies;
    if let Some(residual) = &more.residual {
        let left = sum.residual.get_or_insert_default();
        left.input_tokens += residual.input_tokens;
        left.output_tokens += residual.output_tokens;
        left.cache_read_tokens += residual.cache_read_tokens;
        left.cache_creation_tokens += residual.cache_creation_tokens;
        left.cost_usd += residual.cost_usd;
        left.reason = agent_tracer_ledger::project::residual::join_reasons([
            left.reason.as_str(),
            residual.reason.as_str(),
        ]);
    }
}
