//! Numbers that are kept for a moment.
/// Cache
#[derive(Default)]
pub(crate) struct Cache;
