//! Commands: simple ones, and those that hold others.

use super::ast::{Assignment, Case, Command, For, Function, If, Shape, Simple, Span, While, Word};
use super::cursor::Parser;
use super::list::Until;

impl Parser<'_> {
    /// Reads one command with its redirections, or nothing where none begins.
    pub(super) fn command(&mut self) -> Option<Command> {
        self.skip_blanks();
        let start = self.position;
        let shape = match self.peek()? {
            b'(' => self.parenthesised()?,
            b'{' | b'[' | b'i' | b'f' | b's' | b'w' | b'u' | b'c' => match self.compound() {
                Some(shape) => shape,
                None => return self.simple(start),
            },
            _ => return self.simple(start),
        };
        let mut end = self.token_end;
        let mut redirects = Vec::new();
        self.skip_blanks();
        while let Some(redirect) = self.redirect() {
            redirects.push(redirect);
            end = self.token_end;
            self.skip_blanks();
        }
        Some(Command { span: Span::new(start, end.max(start)), shape, redirects })
    }

    fn parenthesised(&mut self) -> Option<Shape> {
        if self.peek_at(1) == Some(b'(')
            && let Some(close) = self.arithmetic_end(2)
        {
            self.advance(2);
            let parts = self.expansions_until(close);
            self.advance(2);
            return Some(Shape::Arithmetic(parts));
        }
        if !self.descend() {
            // Too deep: the bracket only separates what is around it.
            self.advance(1);
            return None;
        }
        self.advance(1);
        self.open.parentheses += 1;
        let script = self.script(Until::Parenthesis);
        self.open.parentheses -= 1;
        self.take(")");
        self.ascend();
        Some(Shape::Subshell(script))
    }

    /// Reads what a keyword begins. Without a keyword nothing is consumed.
    fn compound(&mut self) -> Option<Shape> {
        let word = self.keyword()?;
        if matches!(word, "[[") {
            return Some(self.test());
        }
        if !matches!(word, "{" | "if" | "for" | "select" | "while" | "until" | "case" | "function" | "coproc")
        {
            return None;
        }
        if !self.descend() {
            // Too deep: only the keyword is taken, and what it would hold is read as commands around it. A deletion at
            // level 500 is still found that way.
            self.advance(word.len());
            return Some(Shape::Group(super::ast::Script::default()));
        }
        self.advance(word.len());
        let shape = match word {
            "{" => self.group(),
            "if" => self.branches(),
            "for" | "select" => self.for_loop(),
            "case" => self.case(),
            "function" => self.function(),
            "coproc" => {
                // The command runs in the background; what it is called does not matter here.
                let inner = self.command();
                Shape::Group(super::ast::Script {
                    items: inner.into_iter().map(super::list::alone).collect(),
                })
            }
            _ => {
                self.open.loops += 1;
                let condition = self.script(Until::Do);
                let body = self.loop_body();
                self.open.loops -= 1;
                Shape::While(Box::new(While { condition, body }))
            }
        };
        self.ascend();
        Some(shape)
    }

    fn group(&mut self) -> Shape {
        self.open.braces += 1;
        let script = self.script(Until::Brace);
        self.open.braces -= 1;
        self.take_keyword("}");
        Shape::Group(script)
    }

    fn branches(&mut self) -> Shape {
        self.open.ifs += 1;
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.script(Until::Then);
            if !self.take_keyword("then") {
                self.fault.unexpected = true;
            }
            let body = self.script(Until::Fi);
            branches.push((condition, body));
            if self.take_keyword("elif") {
                continue;
            }
            if self.take_keyword("else") {
                otherwise = Some(self.script(Until::Fi));
            }
            if !self.take_keyword("fi") {
                self.fault.unexpected = true;
            }
            break;
        }
        self.open.ifs -= 1;
        Shape::If(Box::new(If { branches, otherwise }))
    }

    fn for_loop(&mut self) -> Shape {
        self.skip_blanks();
        let mut arithmetic = Vec::new();
        let mut name = Span::new(self.position, self.position);
        let mut words = Vec::new();
        if self.starts_with("((") {
            if let Some(close) = self.arithmetic_end(2) {
                self.advance(2);
                arithmetic = self.expansions_until(close);
                self.advance(2);
            }
        } else {
            name = self.word().span;
            self.skip_lines();
            if self.take_keyword("in") {
                words = self.words_of_line();
            }
        }
        self.skip_blanks();
        self.take(";");
        self.skip_lines();
        self.open.loops += 1;
        let body = self.loop_body();
        self.open.loops -= 1;
        Shape::For(Box::new(For { name, words, arithmetic, body }))
    }

    /// Reads `do … done`, or the braces that bash also accepts.
    fn loop_body(&mut self) -> super::ast::Script {
        self.skip_lines();
        if self.take_keyword("{") {
            self.open.braces += 1;
            let body = self.script(Until::Brace);
            self.open.braces -= 1;
            self.take_keyword("}");
            return body;
        }
        if !self.take_keyword("do") {
            self.fault.unexpected = true;
        }
        let body = self.script(Until::Done);
        if !self.take_keyword("done") {
            self.fault.unexpected = true;
        }
        body
    }

    fn words_of_line(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            if Self::ends_word(self.peek()) && !self.at_process_substitution() {
                return words;
            }
            words.push(self.word());
        }
    }

    fn case(&mut self) -> Shape {
        self.skip_blanks();
        let subject = self.word();
        self.skip_lines();
        if !self.take_keyword("in") {
            self.fault.unexpected = true;
        }
        self.open.cases += 1;
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.at_end() || self.keyword() == Some("esac") {
                break;
            }
            // A pattern: words joined by `|`, closed by `)`.
            let before = self.position;
            self.take("(");
            loop {
                self.skip_blanks();
                if self.take("|") {
                    continue;
                }
                if Self::ends_word(self.peek()) {
                    break;
                }
                self.word();
            }
            if !self.take(")") {
                self.fault.unexpected = true;
                // Something is always consumed here: a pattern that stays where it is would be read forever.
                if self.position == before || !self.at_end() {
                    self.advance_character();
                }
                continue;
            }
            arms.push(self.script(Until::Arm));
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) && self.keyword() != Some("esac") {
                break;
            }
        }
        if !self.take_keyword("esac") {
            self.fault.unfinished = true;
        }
        self.open.cases -= 1;
        Shape::Case(Box::new(Case { subject, arms }))
    }

    fn function(&mut self) -> Shape {
        self.skip_blanks();
        let name = self.word().span;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.take(")");
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: Span) -> Shape {
        self.skip_lines();
        let body = self.command();
        if body.is_none() {
            self.fault.unfinished = true;
        }
        Shape::Function(Box::new(Function { name, body }))
    }

    /// Reads `[[ … ]]`: operators in it compare, they do not join commands.
    fn test(&mut self) -> Shape {
        self.advance(2);
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            if self.at_end() {
                self.fault.unfinished = true;
                break;
            }
            if self.take_keyword("]]") {
                break;
            }
            if Self::ends_word(self.peek()) {
                self.advance_character();
            } else {
                words.push(self.word());
            }
        }
        Shape::Test(words)
    }

    fn simple(&mut self, start: usize) -> Option<Command> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
            } else if self.peek() == Some(b'(') && simple.words.len() == 1 && simple.assignments.is_empty() {
                return self.maybe_function(start, simple, redirects);
            } else if Self::ends_word(self.peek()) && !self.at_process_substitution() {
                break;
            } else if let Some(assignment) =
                if simple.words.is_empty() { self.assignment() } else { self.declared_array() }
            {
                simple.assignments.push(assignment);
            } else {
                simple.words.push(self.word());
            }
            end = self.token_end;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return None;
        }
        Some(Command { span: Span::new(start, end), shape: Shape::Simple(simple), redirects })
    }

    /// Reads `name()`, which begins a function; a bracket anywhere else after a word has no meaning.
    fn maybe_function(
        &mut self,
        start: usize,
        simple: Simple,
        redirects: Vec<super::ast::Redirect>,
    ) -> Option<Command> {
        let before = (self.position, self.token_end);
        self.advance(1);
        self.skip_blanks();
        let name = simple.words.first().map(|word| word.span);
        if let Some(name) = name
            && self.take(")")
            && redirects.is_empty()
        {
            let shape = if self.descend() {
                let shape = self.function_body(name);
                self.ascend();
                shape
            } else {
                Shape::Function(Box::new(Function { name, body: None }))
            };
            return Some(Command { span: Span::new(start, self.token_end.max(start)), shape, redirects });
        }
        (self.position, self.token_end) = before;
        self.fault.unexpected = true;
        let end = name.map_or(start, |name| name.end);
        Some(Command { span: Span::new(start, end), shape: Shape::Simple(simple), redirects })
    }

    /// Reads `NAME=…` before the command's name.
    fn assignment(&mut self) -> Option<Assignment> {
        let (name, length, whole) = self.assignment_head()?;
        // A subscript is worked out, and what stands in it runs.
        let head = self.rest().get(..length).unwrap_or_default();
        self.fault.unexpected |= head.contains("$(") || head.contains('`');
        self.advance(length);
        if self.peek() == Some(b'(') {
            return Some(Assignment { name, whole: false, values: self.array() });
        }
        let value = self.word();
        Some(Assignment { name, whole, values: vec![value] })
    }

    /// Reads `declare -a NAME=(…)`: an array among the words of a command.
    fn declared_array(&mut self) -> Option<Assignment> {
        let (name, length, _) = self.assignment_head()?;
        if self.peek_at(length) != Some(b'(') {
            return None;
        }
        self.advance(length);
        Some(Assignment { name, whole: false, values: self.array() })
    }

    /// Returns the name, the length up to and with `=`, and whether the variable is set as a whole.
    fn assignment_head(&self) -> Option<(Span, usize, bool)> {
        let first = self.peek()?;
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return None;
        }
        let mut length = 1;
        while self.peek_at(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            length += 1;
        }
        let name = Span::new(self.position, self.position + length);
        let mut whole = true;
        if self.peek_at(length) == Some(b'[') {
            length = self.subscript_end(length)?;
            whole = false;
        }
        if self.peek_at(length) == Some(b'+') {
            length += 1;
            whole = false;
        }
        (self.peek_at(length) == Some(b'=')).then_some((name, length + 1, whole))
    }

    /// Returns the end of the subscript that opens at `open`. The search gives up after 128 bytes: it only looks ahead,
    /// the word is read again afterwards, and real subscripts are short.
    fn subscript_end(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for ahead in open..open + 128 {
            match self.peek_at(ahead)? {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                b'\n' => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(ahead + 1);
            }
        }
        None
    }

    fn array(&mut self) -> Vec<Word> {
        self.advance(1);
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            if self.at_end() {
                self.fault.unfinished = true;
                return words;
            }
            if self.take(")") {
                return words;
            }
            if Self::ends_word(self.peek()) && !self.at_process_substitution() {
                self.fault.unexpected = true;
                self.advance_character();
            } else {
                words.push(self.word());
            }
        }
    }
}
