//! Options and operands: how a program reads its arguments.

use crate::words::Field;

/// The spelling of a program's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `-abc`, `-o value`, `--long`, `--long=value`.
    Gnu,
    /// `-name`, `-name value`: find, go, terraform, java.
    OneDash,
    /// `-Name value`, in any case: PowerShell.
    Cmdlet,
}

/// The arguments of a call, split into options and operands.
pub(crate) struct Arguments<'f, 't> {
    style: Style,
    options: Vec<Given<'f, 't>>,
    pub(crate) operands: Vec<&'f Field<'t>>,
    /// The number of operands before `--`; absent without a `--`.
    pub(crate) before_dashes: Option<usize>,
}

struct Given<'f, 't> {
    name: Name<'f>,
    value: Option<&'f str>,
    /// The field that holds the value, if it is a field of its own.
    field: Option<&'f Field<'t>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name<'f> {
    Short(char),
    Long(&'f str),
}

impl<'f, 't> Arguments<'f, 't> {
    /// Tells options from operands. `values` names the options that take a value, separated by blanks.
    pub(crate) fn read(fields: &'f [Field<'t>], values: &str, style: Style) -> Self {
        let mut arguments = Self { style, options: Vec::new(), operands: Vec::new(), before_dashes: None };
        let mut rest = fields.iter();
        while let Some(field) = rest.next() {
            let text: &'f str = &field.text;
            if text == "--" && style != Style::Cmdlet {
                arguments.before_dashes = Some(arguments.operands.len());
                arguments.operands.extend(rest);
                break;
            }
            if !field.is_option() {
                arguments.operands.push(field);
                continue;
            }
            match style {
                Style::Gnu if text.starts_with("--") => {
                    let (name, value) = split_value(text);
                    // Whether the next word is a value or an operand depends on the program, so its table lists the
                    // options that take one.
                    let field = if value.is_none() && is_listed(values, name) { rest.next() } else { None };
                    let value = value.or(field.map(|field| &*field.text));
                    arguments.options.push(Given { name: Name::Long(name), value, field });
                }
                Style::Gnu => arguments.cluster(text, values, &mut rest),
                Style::OneDash | Style::Cmdlet => {
                    let (name, value) = split_value(text);
                    let takes = if style == Style::Cmdlet {
                        listed_anyhow(values, name)
                    } else {
                        is_listed(values, name)
                    };
                    let field = if value.is_none() && takes { rest.next() } else { None };
                    let value = value.or(field.map(|field| &*field.text));
                    arguments.options.push(Given { name: Name::Long(name), value, field });
                }
            }
        }
        arguments
    }

    /// Reads `-abc`: three options, or one with a value stuck to it.
    fn cluster(&mut self, text: &'f str, values: &str, rest: &mut std::slice::Iter<'f, Field<'t>>) {
        for (position, letter) in text.char_indices().skip(1) {
            let name = Name::Short(letter);
            if !listed_short(values, letter) {
                self.options.push(Given { name, value: None, field: None });
                continue;
            }
            let stuck = text.get(position + letter.len_utf8()..).filter(|stuck| !stuck.is_empty());
            let field = if stuck.is_none() { rest.next() } else { None };
            let value = stuck.or(field.map(|field| &*field.text));
            self.options.push(Given { name, value, field });
            return;
        }
    }

    /// Returns `true` if one of the named options is given.
    pub(crate) fn has(&self, names: &str) -> bool {
        self.options.iter().any(|given| given.is(names, self.style))
    }

    /// Returns `true` if one of the named options is given, also by a beginning of its long name: `--recurs`. Only
    /// for options that make a command graver: what is ambiguous counts.
    pub(crate) fn has_beginning(&self, names: &str) -> bool {
        self.has(names)
            || self.options.iter().any(|given| match given.name {
                Name::Long(long) => {
                    long.len() > 2 && tokens(names).any(|known| known.starts_with(long.as_bytes()))
                }
                Name::Short(_) => false,
            })
    }

    /// Returns the value of the first of the named options that is given.
    pub(crate) fn value(&self, names: &str) -> Option<&'f str> {
        self.options.iter().find(|given| given.is(names, self.style)).and_then(|given| given.value)
    }

    /// Returns the values of all of the named options.
    pub(crate) fn values<'a>(
        &'a self,
        names: &'a str,
    ) -> impl Iterator<Item = (&'f str, Option<&'f Field<'t>>)> + 'a {
        self.options
            .iter()
            .filter(move |given| given.is(names, self.style))
            .filter_map(|given| given.value.map(|value| (value, given.field)))
    }

    /// Returns the values that are stuck to a beginning of one of the long names: `--outp=x`.
    pub(crate) fn values_by_beginning<'a>(
        &'a self,
        names: &'a str,
    ) -> impl Iterator<Item = (&'f str, Option<&'f Field<'t>>)> + 'a {
        self.options.iter().filter_map(move |given| match given.name {
            Name::Long(long) if self.style == Style::Gnu && long.len() > 3 && !is_listed(names, long) => {
                let begins = tokens(names).any(|known| known.starts_with(long.as_bytes()));
                given.value.filter(|_| begins).map(|value| (value, given.field))
            }
            Name::Long(_) | Name::Short(_) => None,
        })
    }

    /// Returns the text of an operand.
    pub(crate) fn operand(&self, index: usize) -> Option<&'f str> {
        self.operands.get(index).map(|field| &*field.text)
    }

    /// Returns the operands behind `--`.
    pub(crate) fn after_dashes(&self) -> &[&'f Field<'t>] {
        self.before_dashes.and_then(|before| self.operands.get(before..)).unwrap_or_default()
    }

    /// Returns the digits of `-20`, as `head` and `tail` take them.
    pub(crate) fn number(&self) -> Option<String> {
        let digits: String = self
            .options
            .iter()
            .map_while(|given| match given.name {
                Name::Short(digit) if digit.is_ascii_digit() => Some(digit),
                Name::Short(_) | Name::Long(_) => None,
            })
            .collect();
        (!digits.is_empty()).then_some(digits)
    }
}

impl Given<'_, '_> {
    fn is(&self, names: &str, style: Style) -> bool {
        match self.name {
            Name::Short(letter) => listed_short(names, letter),
            // PowerShell takes any case and any beginning of a name that is clear enough.
            Name::Long(long) if style == Style::Cmdlet => tokens(names).any(|name| {
                name.get(..long.len()).is_some_and(|start| start.eq_ignore_ascii_case(long.as_bytes()))
            }),
            Name::Long(long) => is_listed(names, long),
        }
    }
}

/// Returns the values of the named options in every way in which programs take them: `-xV`, `-x V`, `-qxV`, `--long=V`,
/// `--long V`, and a long name by its beginning. `others` names the options besides that take a value. Made for options
/// that hold a command: what may be one counts.
pub(crate) fn values_of<'f, 't>(
    fields: &'f [Field<'t>],
    names: &str,
    others: &str,
) -> Vec<(&'f str, Option<&'f Field<'t>>)> {
    let mut found = Vec::new();
    let mut rest = fields.iter();
    while let Some(field) = rest.next() {
        let text: &'f str = &field.text;
        if text == "--" {
            break;
        }
        if !field.is_option() {
            continue;
        }
        let (long, stuck) = split_value(text);
        // `-exec` of a program that writes long names with one dash.
        let one_dash = long.len() > 2 && is_listed(names, long);
        let begins = |known: &[u8]| known.starts_with(b"--") && known.starts_with(long.as_bytes());
        if one_dash || long.len() > 2 && long.starts_with("--") && tokens(names).any(begins) {
            let field = if stuck.is_none() { rest.next() } else { None };
            found.extend(stuck.or(field.map(|field| &*field.text)).map(|value| (value, field)));
            continue;
        }
        if text.starts_with("--") {
            if stuck.is_none() && is_listed(others, long) {
                rest.next();
            }
            continue;
        }
        for (position, letter) in text.char_indices().skip(1) {
            let is_named = listed_short(names, letter);
            if !is_named && !listed_short(others, letter) {
                continue;
            }
            let stuck = text.get(position + letter.len_utf8()..).filter(|stuck| !stuck.is_empty());
            let field = if stuck.is_none() { rest.next() } else { None };
            if is_named {
                found.extend(stuck.or(field.map(|field| &*field.text)).map(|value| (value, field)));
            }
            break;
        }
    }
    found
}

fn split_value(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

/// Returns `true` if a list of option names, separated by blanks, holds this one. The lists are long and asked for
/// every option of every command, so this looks at each byte once and builds nothing.
pub(crate) fn is_listed(names: &str, name: &str) -> bool {
    tokens(names).any(|known| known == name.as_bytes())
}

fn listed_anyhow(names: &str, name: &str) -> bool {
    tokens(names).any(|known| known.eq_ignore_ascii_case(name.as_bytes()))
}

fn listed_short(names: &str, letter: char) -> bool {
    match u8::try_from(letter) {
        Ok(letter) => tokens(names).any(|known| known == [b'-', letter]),
        Err(_) => false,
    }
}

fn tokens(names: &str) -> impl Iterator<Item = &[u8]> {
    names.as_bytes().split(|byte| *byte == b' ').filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &'static str) -> Vec<Field<'static>> {
        line.split(' ').map(Field::literal).collect()
    }

    #[test]
    fn clusters_values_and_operands_are_distinguished() {
        let fields = fields("-rf -n5 --depth=2 --file x a -- -b");
        let read = Arguments::read(&fields, "-n --file", Style::Gnu);
        assert!(read.has("-r") && read.has("-f --force") && !read.has("-x"));
        assert_eq!(read.value("-n"), Some("5"));
        assert_eq!(read.value("--depth"), Some("2"));
        assert_eq!(read.value("-o --file"), Some("x"));
        assert_eq!(read.operands.iter().map(|field| &*field.text).collect::<Vec<_>>(), ["a", "-b"]);
        assert_eq!(read.after_dashes().len(), 1);
    }

    #[test]
    fn a_value_is_found_however_it_is_given() {
        for line in [
            "-cV",
            "-c V",
            "-qcV",
            "-qc V",
            "--command=V",
            "--command V",
            "--comm=V",
            "--co V",
            "x -c V",
            "-o -c -c V",
        ] {
            let fields = fields(line);
            let found = values_of(&fields, "-c --command", "-o --output");
            assert_eq!(found.iter().map(|(value, _)| *value).collect::<Vec<_>>(), ["V"], "{line}");
        }
        for line in ["-- -c V", "-o c", "-oc V", "--output c", "--no-command", "-c"] {
            let fields = fields(line);
            assert!(values_of(&fields, "-c --command", "-o --output").is_empty(), "{line}");
        }
        let fields = fields("-exec=V -exec V");
        assert_eq!(values_of(&fields, "-exec", "").len(), 2);
    }

    #[test]
    fn a_value_option_at_the_end_has_no_value() {
        let fields = fields("-n");
        let read = Arguments::read(&fields, "-n", Style::Gnu);
        assert!(read.has("-n"));
        assert_eq!(read.value("-n"), None);
    }

    #[test]
    fn one_dash_options_are_words() {
        let fields = fields("src -name x -delete");
        let read = Arguments::read(&fields, "-name", Style::OneDash);
        assert_eq!(read.value("-name"), Some("x"));
        assert!(read.has("-delete"));
        assert_eq!(read.operand(0), Some("src"));
    }

    #[test]
    fn a_bare_dash_is_an_operand_and_digits_are_a_number() {
        let fields = fields("-20 -");
        let read = Arguments::read(&fields, "", Style::Gnu);
        assert_eq!(read.number().as_deref(), Some("20"));
        assert_eq!(read.operand(0), Some("-"));
    }
}
