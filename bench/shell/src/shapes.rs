//! Commands to read: as people and agents write them, and hostile ones.

/// A command that is repeated until it is long enough.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    unit: &'static str,
}

const fn shape(name: &'static str, unit: &'static str) -> Shape {
    Shape { name, unit }
}

pub(crate) const SHAPES: &[Shape] = &[
    shape(
        "checks in pipes",
        "cd crates/x && RUST_LOG=debug cargo test -p foo --lib 2>&1 | tail -n 20 || echo \"failed: $?\"; rg -n 'fn main' src/ | head\n",
    ),
    shape(
        "loops",
        "for f in src/*.rs; do if [ -f \"$f\" ]; then sed -n '1,20p' \"$f\" | grep -c $(basename \"$f\" .rs); fi; done\n",
    ),
    shape("here-documents", "cat <<'EOF' > out.txt\nsome text $(not run) `x`\nmore and more of it\nEOF\n"),
    shape(
        "commit with a message",
        "git add -A && git commit -m \"$(cat <<'EOF'\nfix: say what changed\n\nAnd why it did.\nEOF\n)\" && git push\n",
    ),
    shape("words", "echo one two 'three four' \"five $six\" seven\\ eight; "),
    shape("scripts in scripts", "bash -c 'sudo sh -c \"rm -rf build && make\"'; "),
    shape("most steps", "a;"),
    shape("most members", "a|"),
    shape("most substitutions", "$(a) "),
    shape("most backticks", "`a` "),
    shape("only open brackets", "("),
    shape("only open substitutions", "$("),
    shape("only open quotes", "\"$("),
    shape("only open arithmetic", "$(("),
    shape("only announced documents", "<<A "),
    shape("only keywords", "if "),
    shape("remote in remote", "ssh h "),
    shape("growing variables", "a=$a$a; "),
    shape("wrappers", "env "),
    shape("wrappers with options", "timeout 9 "),
    shape("lists in lists", "xargs "),
    shape("holders of scripts", "flock f "),
    shape("searches in searches", "find . -exec "),
    shape("variables before a command", "A=1 "),
    shape("programs by path", "./a; "),
];

impl Shape {
    /// The shape, at least this many bytes long.
    pub(crate) fn of_length(&self, bytes: usize) -> String {
        self.unit.repeat(bytes.div_ceil(self.unit.len()))
    }
}
