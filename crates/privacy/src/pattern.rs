//! Patterns with wildcards, over the bytes of a name or the characters of a text.
//!
//! Of a path, `*` stands for any part of a name, `?` for one character of a name and `**` for any part of the path; of a
//! text, `*` stands for anything and `?` for any character. `a/**/b` is also `a/b`. Matching reads the input once and
//! carries the set of places in the pattern that are reachable so far: with backtracking, a pattern such as `*a*a*a*b`
//! would take time that grows with a power of its stars, and rules come from files of other people.
//!
//! Folders of the settings are bytes, because a path need not be text; rules are text, because they also meet shell
//! patterns, in which a character is one place. Hence the parameter.

/// One element of an input: a byte or a character.
pub trait Symbol: Copy + Eq {
    /// Returns the symbol of an ASCII character.
    fn ascii(byte: u8) -> Self;
    /// Returns `true` if the symbol continues the character of the symbol before it.
    fn continues(self) -> bool;
}

impl Symbol for u8 {
    fn ascii(byte: u8) -> Self {
        byte
    }
    fn continues(self) -> bool {
        (0x80..0xc0).contains(&self)
    }
}

impl Symbol for char {
    fn ascii(byte: u8) -> Self {
        Self::from(byte)
    }
    fn continues(self) -> bool {
        false
    }
}

/// One place of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<S> {
    /// This symbol.
    Symbol(S),
    /// One character.
    Any,
    /// One character of a name.
    InName,
    /// Any part of a name.
    Within,
    /// Anything.
    Across,
}

/// A pattern, ready to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern<S> {
    tokens: Vec<Token<S>>,
}

impl<S: Symbol> Pattern<S> {
    /// Parses the pattern of a text. Every text is one.
    pub fn of_text(text: impl Iterator<Item = S>) -> Self {
        let mut tokens = Vec::new();
        for symbol in text {
            if symbol == S::ascii(b'?') {
                tokens.push(Token::Any);
            } else if symbol != S::ascii(b'*') {
                tokens.push(Token::Symbol(symbol));
            } else if tokens.last() != Some(&Token::Across) {
                tokens.push(Token::Across);
            }
        }
        Self { tokens }
    }

    /// Parses the pattern of a path. `dir/` and `dir/**` are `dir`; `/**` alone is everything.
    pub fn of_path(path: impl Iterator<Item = S>) -> Self {
        let slash = Token::Symbol(S::ascii(b'/'));
        let mut tokens = Vec::new();
        for symbol in path {
            if symbol == S::ascii(b'?') {
                tokens.push(Token::InName);
            } else if symbol != S::ascii(b'*') {
                if tokens.last() != Some(&slash) || Token::Symbol(symbol) != slash {
                    tokens.push(Token::Symbol(symbol));
                }
            } else if matches!(tokens.last(), Some(Token::Within | Token::Across)) {
                tokens.pop();
                tokens.push(Token::Across);
            } else {
                tokens.push(Token::Within);
            }
        }
        loop {
            match tokens.as_slice() {
                [.., last] if *last == slash => tokens.truncate(tokens.len() - 1),
                [.., before, Token::Across] if *before == slash => tokens.truncate(tokens.len() - 2),
                _ => break,
            }
        }
        Self { tokens }
    }

    /// Returns the pattern below every folder.
    #[must_use]
    pub fn anywhere(self) -> Self {
        let everything = [Token::Across];
        if self.tokens == everything {
            return self;
        }
        let below = [Token::Across, Token::Symbol(S::ascii(b'/'))];
        let tokens = below.into_iter().chain(self.tokens).collect();
        Self { tokens }
    }

    /// Returns its places.
    #[must_use]
    pub fn tokens(&self) -> &[Token<S>] {
        &self.tokens
    }

    /// Returns `true` if the whole input is one that the pattern stands for.
    pub fn matches(&self, text: impl Iterator<Item = S>) -> bool {
        let mut places = ReachedStates::at_start(self);
        text.for_each(|symbol| places.read(symbol));
        places.is_complete()
    }

    /// Returns `true` if a path is one that the pattern stands for, or lies below one.
    pub fn covers(&self, path: impl Iterator<Item = S>) -> bool {
        let mut places = ReachedStates::at_start(self);
        places.walk(path, ReachedStates::is_complete)
    }

    /// Returns `true` if some end of a path that begins at a slash is covered.
    pub fn covers_an_end(&self, path: impl Iterator<Item = S>) -> bool {
        let mut places = ReachedStates::at_start(self);
        places.walk(path, |places| {
            let is_complete = places.is_complete();
            places.enter(0);
            is_complete
        })
    }

    fn is_slash(&self, place: usize) -> bool {
        self.tokens.get(place) == Some(&Token::Symbol(S::ascii(b'/')))
    }
}

/// The places of a pattern that are reachable with the input so far.
struct ReachedStates<'p, S> {
    pattern: &'p Pattern<S>,
    // Every reachable place at once instead of one with a way back: time is the product of both lengths, so that no
    // pattern of the user makes a hook slow.
    reached: Vec<bool>,
    next: Vec<bool>,
}

impl<'p, S: Symbol> ReachedStates<'p, S> {
    fn at_start(pattern: &'p Pattern<S>) -> Self {
        let places = pattern.tokens.len() + 1;
        let mut start = Self { pattern, reached: vec![false; places], next: vec![false; places] };
        start.enter(0);
        start
    }

    fn is_complete(&mut self) -> bool {
        self.reached.last() == Some(&true)
    }

    /// Reads a path and ends it with a slash; slashes in a row are one. Stops where `ends` says so, which is asked before
    /// each slash: what is read up to there is a folder on the way.
    fn walk(&mut self, path: impl Iterator<Item = S>, mut ends: impl FnMut(&mut Self) -> bool) -> bool {
        let slash = S::ascii(b'/');
        let mut previous = None;
        if self.is_complete() {
            return true;
        }
        for symbol in path.chain([slash]) {
            if symbol == slash && previous == Some(slash) {
                continue;
            }
            if symbol == slash && ends(self) {
                return true;
            }
            previous = Some(symbol);
            self.read(symbol);
        }
        false
    }

    fn read(&mut self, symbol: S) {
        let slash = S::ascii(b'/');
        let tokens = &self.pattern.tokens;
        self.next.fill(false);
        std::mem::swap(&mut self.reached, &mut self.next);
        // `next` now holds the places before the symbol, `reached` is empty.
        for place in 0..self.next.len() {
            if self.next.get(place) != Some(&true) {
                continue;
            }
            match tokens.get(place) {
                Some(Token::Symbol(expected)) if *expected == symbol => self.enter(place + 1),
                Some(Token::Any) => self.enter(place + 1),
                Some(Token::InName) if symbol != slash => self.enter(place + 1),
                Some(Token::Within) if symbol != slash => self.reach(place),
                Some(Token::Across) => self.reach(place),
                Some(Token::Symbol(_) | Token::InName | Token::Within) | None => {}
            }
            // The symbols that continue a character belong to it.
            let before = place.checked_sub(1).and_then(|before| tokens.get(before));
            if symbol.continues() && matches!(before, Some(Token::Any | Token::InName)) {
                self.reach(place);
            }
        }
    }

    /// Marks a place, and those behind it that are reached without a symbol: stars stand for nothing, too.
    fn reach(&mut self, mut place: usize) {
        loop {
            if let Some(here) = self.reached.get_mut(place) {
                *here = true;
            }
            match self.pattern.tokens.get(place) {
                Some(Token::Within | Token::Across) => place += 1,
                Some(Token::Symbol(_) | Token::Any | Token::InName) | None => return,
            }
        }
    }

    /// Marks a place that is entered from the one before it: there `**/` as a whole stands for nothing, too. Once it
    /// stands for something, its slash has to be there.
    fn enter(&mut self, mut place: usize) {
        self.reach(place);
        while self.pattern.tokens.get(place) == Some(&Token::Across) && self.pattern.is_slash(place + 1) {
            if place > 0 && !self.pattern.is_slash(place - 1) {
                return;
            }
            place += 2;
            self.reach(place);
        }
    }
}
