//! The one table of agents: how each is spelled on the wire, in the store, on the command line and on screen.
//!
//! An [`Agent`] is a row of the table and nothing else, so that a new agent is a new row. What an agent's files and events
//! mean is known in its folder of the `agents` crate; here stands only what the rooms of the hook need too, as plain data.
//! The table is a constant: finding a row compares a few short texts and allocates nothing.

mod event_name;
#[cfg(feature = "serde")]
mod serde;
mod spec;
mod table;

use std::fmt;

pub use spec::{AgentSpec, ErrorText};

/// A row of the table of agents.
///
/// The number inside is the row's place. It is also the byte on the policy socket and the number in the ledger's columns,
/// which is why rows are only ever added at the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Agent(u8);

impl Agent {
    /// Claude Code.
    pub const CLAUDE_CODE: Self = Self(0);
    /// Codex.
    pub const CODEX: Self = Self(1);

    /// Every agent that people use, in the order of the table. The made-up one of tests is not among them.
    pub const ALL: &[Self] = &places::<{ table::TABLE.len() - cfg!(feature = "example-agent") as usize }>();

    /// Returns the row.
    #[must_use]
    pub const fn spec(self) -> &'static AgentSpec {
        #[expect(clippy::indexing_slicing, reason = "values are only made of places that exist")]
        &table::TABLE[self.0 as usize]
    }

    /// Returns the id, as it stands in envelopes, in JSON and in every store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.spec().id
    }

    /// Returns the name on screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the byte that stands for the agent on the policy socket.
    #[must_use]
    pub const fn wire_byte(self) -> u8 {
        self.0
    }

    /// Reads the byte of the policy socket.
    #[must_use]
    pub const fn from_wire_byte(byte: u8) -> Option<Self> {
        if (byte as usize) < table::TABLE.len() { Some(Self(byte)) } else { None }
    }

    /// Returns the number that stands for the agent in the ledger's columns.
    #[must_use]
    pub const fn place(self) -> usize {
        self.0 as usize
    }

    /// Reads the number of a column of the ledger.
    #[must_use]
    pub fn from_place(place: i64) -> Option<Self> {
        Self::from_wire_byte(u8::try_from(place).ok()?)
    }

    /// Reads the id; any other spelling is no agent.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        // Strict, unlike the two below: what we wrote ourselves has one spelling, and a second one would be damage.
        Self::find(|spec| spec.id == id)
    }

    /// Reads the id, the word on the command line, or any spelling that documents and older senders use.
    #[must_use]
    pub fn from_any_spelling(text: &str) -> Option<Self> {
        Self::find(|spec| spec.is_spelled(text.as_bytes()))
    }

    /// Reads the word with which an agent's hooks call our hook, in any of its spellings.
    #[must_use]
    pub fn from_hook_word(word: &[u8]) -> Option<Self> {
        Self::find(|spec| spec.is_spelled(word))
    }

    /// Reads the word with which an agent's status line calls our hook.
    #[must_use]
    pub fn from_statusline_word(word: &[u8]) -> Option<Self> {
        Self::find(|spec| spec.statusline_word.is_some_and(|own| own.as_bytes() == word))
    }

    /// Writes the name of an event into a payload as its first member, `hook_event_name`, so that every later reader finds it
    /// where it finds that of other agents. A name that the payload has itself comes later, and counts. Returns `false`, and
    /// changes nothing, if the payload is no JSON object or the name is no word.
    pub fn name_event(payload: &mut Vec<u8>, event: &[u8]) -> bool {
        event_name::write(payload, event)
    }

    /// Returns every row, including the made-up one of tests. Outside of tests it is [`Agent::ALL`].
    pub fn rows() -> impl Iterator<Item = Self> {
        (0_u8..).zip(table::TABLE).map(|(place, _)| Self(place))
    }

    fn find(is_it: impl Fn(&AgentSpec) -> bool) -> Option<Self> {
        Self::rows().find(|agent| is_it(agent.spec()))
    }
}

/// Returns the first places of the table. The made-up agent of tests is its last row.
const fn places<const COUNT: usize>() -> [Agent; COUNT] {
    let mut places = [Agent(0); COUNT];
    let mut place = 0;
    while place < COUNT {
        #[expect(clippy::indexing_slicing, reason = "`place` is below the length of the array")]
        {
            places[place] = Agent(place as u8);
        }
        place += 1;
    }
    places
}

/// The first row. It stands in where a stored number or a foreign record names no agent of the table.
impl Default for Agent {
    fn default() -> Self {
        Self::CLAUDE_CODE
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_back_by_each_of_its_spellings() {
        for agent in Agent::rows() {
            let spec = agent.spec();
            assert_eq!(Agent::parse(agent.as_str()), Some(agent));
            assert_eq!(Agent::from_wire_byte(agent.wire_byte()), Some(agent));
            assert_eq!(Agent::from_place(agent.place() as i64), Some(agent));
            for text in spec.spellings.iter().chain([&spec.id, &spec.word]) {
                assert_eq!(Agent::from_any_spelling(text), Some(agent), "{text}");
                assert_eq!(Agent::from_hook_word(text.as_bytes()), Some(agent), "{text}");
            }
        }
        assert_eq!(Agent::from_wire_byte(0xff), None);
        assert_eq!(Agent::from_place(-1), None);
        assert_eq!(Agent::from_any_spelling("Claude"), None);
        assert_eq!(Agent::parse("claude"), None);
    }

    #[test]
    fn no_spelling_belongs_to_two_agents() {
        let spellings = |agent: Agent| {
            let spec = agent.spec();
            let own = spec.spellings.iter().copied().chain([spec.id, spec.word]).chain(spec.statusline_word);
            own.collect::<Vec<_>>()
        };
        for agent in Agent::rows() {
            for other in Agent::rows().filter(|other| *other != agent) {
                assert!(
                    spellings(agent).iter().all(|text| !spellings(other).contains(text)),
                    "{agent} {other}"
                );
            }
        }
    }

    #[test]
    fn every_row_is_distinct_with_and_without_colour() {
        for agent in Agent::rows() {
            let spec = agent.spec();
            assert!(!spec.name.is_empty() && !spec.short_name.is_empty(), "{agent}");
            assert_eq!(spec.mark.chars().count(), 2, "{agent}");
            for other in Agent::rows().filter(|other| *other != agent).map(Agent::spec) {
                assert_ne!(spec.mark.to_lowercase(), other.mark.to_lowercase(), "{agent}");
                assert_ne!(spec.name, other.name, "{agent}");
                assert_ne!(spec.short_name, other.short_name, "{agent}");
                assert_ne!(spec.dark_colour, other.dark_colour, "{agent}");
                assert_ne!(spec.light_colour, other.light_colour, "{agent}");
            }
        }
    }

    /// Uses the lightest ground of the dark theme and the darkest of the light one (`web/src/app.css`).
    #[test]
    fn colours_are_readable_on_their_ground() {
        for agent in Agent::rows() {
            let spec = agent.spec();
            for (colour, ground) in [(spec.dark_colour, "#22304a"), (spec.light_colour, "#dfeaf9")] {
                let contrast = contrast(luminance(colour), luminance(ground));
                assert!(contrast >= 4.5, "{agent}: `{colour}` has a contrast of {contrast:.2} on `{ground}`");
            }
        }
    }

    fn contrast(one: f64, other: f64) -> f64 {
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Returns the relative luminance as WCAG defines it.
    fn luminance(colour: &str) -> f64 {
        let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6).expect("`#rrggbb`");
        let value = u32::from_str_radix(digits, 16).expect("`#rrggbb`");
        [(16, 0.2126), (8, 0.7152), (0, 0.0722)].iter().fold(0.0, |sum, (shift, weight)| {
            let part = f64::from((value >> shift) & 0xff) / 255.0;
            let linear = if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
            sum + weight * linear
        })
    }

    #[test]
    fn stored_numbers_and_words_do_not_change() {
        let stored: Vec<_> = Agent::ALL.iter().map(|agent| (agent.wire_byte(), agent.as_str())).collect();
        assert_eq!(stored, [(0, "claude_code"), (1, "codex")]);
        assert_eq!(Agent::from_any_spelling("claude-plugin"), Some(Agent::CLAUDE_CODE));
        assert_eq!(Agent::from_any_spelling("codex-cli"), Some(Agent::CODEX));
        assert_eq!(Agent::from_statusline_word(b"statusline"), Some(Agent::CLAUDE_CODE));
    }
}
