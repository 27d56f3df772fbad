//! The grammar on its own: what is joined to what, and where words end.

use super::ast::{Command, Link, Part, Pipeline, Script, Shape, Span, Word};
use super::{Parsed, parse_bash, parse_powershell};

/// A tree as text: `(seq …)`, `(and a b)`, `(pipe a b)`, words in square brackets.
struct Print<'p> {
    source: &'p str,
    parsed: &'p Parsed,
}

impl Print<'_> {
    fn script(&self, script: &Script) -> String {
        let items: Vec<String> = script
            .items
            .iter()
            .map(|item| {
                let mut text = self.pipeline(&item.chain.first);
                for (link, pipeline) in &item.chain.rest {
                    let word = if *link == Link::And { "and" } else { "or" };
                    text = format!("({word} {text} {})", self.pipeline(pipeline));
                }
                if item.background { format!("(bg {text})") } else { text }
            })
            .collect();
        items.join(" ; ")
    }

    fn pipeline(&self, pipeline: &Pipeline) -> String {
        let commands: Vec<String> = pipeline.commands.iter().map(|command| self.command(command)).collect();
        let text =
            if commands.len() == 1 { commands.concat() } else { format!("(pipe {})", commands.join(" ")) };
        let text = if pipeline.timed { format!("(time {text})") } else { text };
        if pipeline.negated { format!("(not {text})") } else { text }
    }

    fn command(&self, command: &Command) -> String {
        let mut text = match &command.shape {
            Shape::Simple(simple) => {
                let assignments = simple.assignments.iter().map(|assignment| {
                    let values: Vec<String> =
                        assignment.values.iter().map(|value| self.word(value)).collect();
                    format!("{}={}", assignment.name.of(self.source), values.join(","))
                });
                let words = simple.words.iter().map(|word| self.word(word));
                format!("[{}]", assignments.chain(words).collect::<Vec<_>>().join(" "))
            }
            Shape::Subshell(script) => format!("(sub {})", self.script(script)),
            Shape::Group(script) => format!("(group {})", self.script(script)),
            Shape::If(it) => {
                let mut text = "(if".to_owned();
                for (condition, body) in &it.branches {
                    text.push_str(&format!(" {} then {}", self.script(condition), self.script(body)));
                }
                if let Some(otherwise) = &it.otherwise {
                    text.push_str(&format!(" else {}", self.script(otherwise)));
                }
                text + ")"
            }
            Shape::While(it) => {
                format!("(while {} do {})", self.script(&it.condition), self.script(&it.body))
            }
            Shape::For(it) => {
                let words: Vec<String> = it.words.iter().map(|word| self.word(word)).collect();
                format!(
                    "(for {} in {} do {})",
                    it.name.of(self.source),
                    words.join(" "),
                    self.script(&it.body)
                )
            }
            Shape::Case(it) => {
                let arms: Vec<String> = it.arms.iter().map(|arm| self.script(arm)).collect();
                format!("(case {} {})", self.word(&it.subject), arms.join(" | "))
            }
            Shape::Function(it) => {
                let body = it.body.as_ref().map(|body| self.command(body)).unwrap_or_default();
                format!("(function {} {body})", it.name.of(self.source))
            }
            Shape::Test(words) => {
                format!("(test {})", words.iter().map(|word| self.word(word)).collect::<Vec<_>>().join(" "))
            }
            Shape::Arithmetic(_) => "(arith)".to_owned(),
        };
        for redirect in &command.redirects {
            let body = redirect.heredoc.and_then(|slot| self.parsed.heredocs.get(slot));
            let target = match body {
                Some(heredoc) => format!("{:?}", heredoc.body.of(self.source)),
                None => self.word(&redirect.target),
            };
            text.push_str(&format!("{{{} {target}}}", redirect.operator.of(self.source)));
        }
        text
    }

    fn word(&self, word: &Word) -> String {
        word.parts.iter().map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Part) -> String {
        let of = |span: Span| span.of(self.source).to_owned();
        match part {
            Part::Plain(span) => of(*span),
            Part::Quoted(span) => format!("‹{}›", of(*span)),
            Part::Decoded(decoded) => format!("‹{}›", decoded.1),
            Part::Parameter(parameter) => {
                let operand: String = parameter.operand.iter().map(|part| self.part(part)).collect();
                format!("${}{operand}", of(parameter.name))
            }
            Part::Command(command) => format!("$({})", self.script(&command.script)),
            Part::Process(process) => format!("<({})", self.script(&process.script)),
            Part::Backtick(inner) => format!("`{}`", of(*inner)),
            Part::Arithmetic(_) => "$((…))".to_owned(),
            Part::Opaque(_) => "…".to_owned(),
        }
    }
}

fn printed(source: &str) -> String {
    let parsed = parse_bash(source);
    assert!(!parsed.fault.any(), "{source}: {:?}", parsed.fault);
    Print { source, parsed: &parsed }.script(&parsed.script)
}

#[test]
fn operators_join_as_in_the_shell() {
    for (source, tree) in [
        ("a", "[a]"),
        ("a;b", "[a] ; [b]"),
        ("a\nb\n\n", "[a] ; [b]"),
        ("a && b || c", "(or (and [a] [b]) [c])"),
        ("a &&\n b", "(and [a] [b])"),
        ("a | b |& c", "(pipe [a] [b] [c])"),
        ("a |\n b", "(pipe [a] [b])"),
        ("! a | b", "(not (pipe [a] [b]))"),
        ("time -p a", "(time [a])"),
        ("a & b", "(bg [a]) ; [b]"),
        ("a && b & c", "(bg (and [a] [b])) ; [c]"),
        ("(a; b) | c", "(pipe (sub [a] ; [b]) [c])"),
        ("{ a; b; } > f", "(group [a] ; [b]){> f}"),
        ("((x + 1)) && a", "(and (arith) [a])"),
        ("( (a) )", "(sub (sub [a]))"),
        ("((a); b)", "(sub (sub [a]) ; [b])"),
        ("# c\na # d\n#e", "[a]"),
        ("a#b", "[a#b]"),
        ("a\r\nb\r\n", "[a] ; [b]"),
    ] {
        assert_eq!(printed(source), tree, "{source}");
    }
}

#[test]
fn compounds_hold_their_parts() {
    for (source, tree) in [
        ("if a; then b; elif c; then d; else e; fi", "(if [a] then [b] [c] then [d] else [e])"),
        ("if a\nthen b\nfi | c", "(pipe (if [a] then [b]) [c])"),
        ("while a; do b; done < f", "(while [a] do [b]){< f}"),
        ("until a; do b; done", "(while [a] do [b])"),
        ("for x in a 'b c' $d; do e; done", "(for x in a ‹b c› $d do [e])"),
        ("for x\ndo a\ndone", "(for x in  do [a])"),
        ("for ((i=0;i<3;i++)); do a; done", "(for  in  do [a])"),
        ("for x in a; { b; }", "(for x in a do [b])"),
        ("select x in a b; do c; done", "(for x in a b do [c])"),
        ("case $x in a|b) c;; (d) e ;& *) f; esac", "(case $x [c] | [e] | [f])"),
        ("case x in esac", "(case x )"),
        ("f() { a; }", "(function f (group [a]))"),
        ("function g { a; }; g", "(function g (group [a])) ; [g]"),
        ("f() (a)", "(function f (sub [a]))"),
        ("[[ -f a && ( b < c || d =~ ^(x|y)$ ) ]] && e", "(and (test -f a b c d =~ ^ x y ‹$›) [e])"),
        ("echo if then fi done", "[echo if then fi done]"),
    ] {
        assert_eq!(printed(source), tree, "{source}");
    }
}

#[test]
fn words_end_where_they_end() {
    for (source, tree) in [
        ("a 'b c' \"d $e\" f\\ g", "[a ‹b c› ‹d ›$e f‹ ›g]"),
        ("''", "[‹›]"),
        ("\"\"", "[‹›]"),
        ("a\"b\"'c'", "[a‹b›‹c›]"),
        ("\"a\\\"b\\$c\\d\"", "[‹a›‹\"b›‹$c\\d›]"),
        ("$'a\\n\\x41\\u00e9\\'b'", "[‹a\nAé'b›]"),
        ("$\"t\"", "[‹›‹t›]"),
        ("a\\\nb c", "[ab c]"),
        ("$a ${b} ${c:-d$e} $? $$ $1x", "[$a $b $c$e $? $$ $1x]"),
        ("$(a | b) \"$(c)\" `d`", "[$((pipe [a] [b])) $([c]) `d`]"),
        ("$(a $(b \"$(c)\"))", "[$([a $([b $([c])])])]"),
        ("$((1 + 2)) $((a) )", "[$((…)) $((sub [a]))]"),
        ("a <(b) >(c)", "[a <([b]) <([c])]"),
        ("x=1 y='2 3' a b=c", "[x=1 y=‹2 3› a b=c]"),
        ("x=(a b 'c d') y+=z w[1]=v q[\"${#q[@]}\"]=r", "[x=a,b,‹c d› y=z w=v q=r]"),
        ("declare -a z=(a b)", "[z=a,b declare -a]"),
        ("ls !(a|b) @(c) *.{d,e}", "[ls !(a|b) @(c) *.{d,e}]"),
        ("echo ${a/b\\}/c} ${d#'}'}", "[echo $a $d]"),
        ("héllo 日本 🦀", "[héllo 日本 🦀]"),
    ] {
        assert_eq!(printed(source), tree, "{source}");
    }
}

#[test]
fn redirections_take_their_targets_and_here_documents_their_bodies() {
    for (source, tree) in [
        ("a > b 2>&1 < c", "[a]{> b}{2>& 1}{< c}"),
        ("a >> b &> c &>> d >| e <> f >&- {fd}> g", "[a]{>> b}{&> c}{&>> d}{>| e}{<> f}{>& -}{{fd}> g}"),
        ("a >& b", "[a]{>& b}"),
        ("2> e a 1", "[a 1]{2> e}"),
        ("> f", "[]{> f}"),
        ("a <<< 'b c'", "[a]{<<< ‹b c›}"),
        ("a <<E\n$x\nE\nb", "[a]{<< \"$x\\n\"} ; [b]"),
        ("a <<-'E' > f\n\tb\n\tE\nc", "[a]{<<- \"\\tb\\n\"}{> f} ; [c]"),
        ("a <<A <<B\n1\nA\n2\nB\n", "[a]{<< \"1\\n\"}{<< \"2\\n\"}"),
        ("a <<E | b\nx\nE\n", "(pipe [a]{<< \"x\\n\"} [b])"),
        ("x=$(cat <<E\nin\nE\n); b", "[x=$([cat]{<< \"in\\n\"})] ; [b]"),
        ("if a <<E; then\nx\nE\nb; fi", "(if [a]{<< \"x\\n\"} then [b])"),
        ("a <<\\E\n$x\nE\n", "[a]{<< \"$x\\n\"}"),
    ] {
        assert_eq!(printed(source), tree, "{source}");
    }
}

#[test]
fn what_is_broken_is_said_and_the_rest_is_read() {
    for (source, tree) in [
        ("a 'b", "[a ‹b›]"),
        ("a \"b", "[a ‹b›]"),
        ("a $(b", "[a $([b])]"),
        ("a ${b", "[a $b]"),
        ("(a", "(sub [a])"),
        ("if a; then b", "(if [a] then [b])"),
        ("a; fi; b", "[a] ; [b]"),
        ("a ) b", "[a] ; [b]"),
        ("&& a", "[a]"),
        ("a && && b", "[a] ; [b]"),
        ("a <<E\nb", "[a]{<< \"b\"}"),
        ("a <<E", "[a]{<< \"\"}"),
        ("[[ a", "(test a)"),
        ("case x in a) b", "(case x [b])"),
        ("( if a; then b ) ; c", "(sub (if [a] then [b])) ; [c]"),
        ("a (b)", "[a] ; (sub [b])"),
        ("echo { a; }", "[echo { a]"),
    ] {
        let parsed = parse_bash(source);
        assert!(parsed.fault.any(), "{source}");
        assert_eq!(Print { source, parsed: &parsed }.script(&parsed.script), tree, "{source}");
    }
}

#[test]
fn powershell_has_its_own_quotes_and_blocks() {
    for (source, tree) in [
        ("a 'b c' \"d $e\"", "[a ‹b c› ‹d ›$]"),
        ("a | b; c && d", "(pipe [a] [b]) ; (and [c] [d])"),
        ("a `\n b", "[a b]"),
        ("if (a) { b } else { c }", "(test a) ; (group [b]) ; (group [c])"),
        ("$x = a b", "[a b]"),
        ("a { b } (c)", "[a $([b]) $([c])]"),
        ("<# a #> b # c", "[b]"),
        ("a > f 2>&1", "[a]{> f}{2>& 1}"),
    ] {
        let parsed = parse_powershell(source);
        let text = Print { source, parsed: &parsed }.script(&parsed.script);
        assert_eq!(text, tree, "{source}");
    }
}
