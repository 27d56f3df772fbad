//! Searches of the web and fetched pages.

use super::declare;

declare! { WEB_ATTRIBUTES
    /// Holds the query of a search, or the address of a fetched page.
    WEB_QUERY = "webQuery": Text, Actions, [CALLS];
    /// Lists the addresses.
    WEB_URLS = "webUrls": List, Metadata, [CALLS];
    /// Holds the question put to a fetched page.
    WEB_PROMPT = "webPrompt": Text, Actions, [CALLS];
    /// Lists the domains that a search is limited to.
    WEB_ALLOWED_DOMAINS = "webAllowedDomains": List, Metadata, [CALLS];
    /// Lists the domains that a search leaves out.
    WEB_BLOCKED_DOMAINS = "webBlockedDomains": List, Metadata, [CALLS];
    /// Counts the searches of one call.
    WEB_SEARCH_COUNT = "webSearchCount": Integer(Items), Metadata, [CALLS];
}
