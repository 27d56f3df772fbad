//! The files that a step reaches beyond the names in its arguments: everything below a folder that is searched, copied
//! or packed as a whole.

use crate::arguments::{Arguments, Style, is_listed};
use crate::draft::{Access, Draft};
use crate::effect::{Effect, Effects};
use crate::exposure::{Breadth, FileAccess, FileUse};
use crate::model::TargetType;
use crate::path::Place;
use crate::walk::{awk, sed};
use crate::words::Field;

/// The way in which a program uses the contents of the folders in its arguments.
enum Manner {
    /// Searches and shows lines.
    Search { hidden: bool },
    /// Takes the folders along as they are.
    Whole,
}

/// Extends the reads of a step to the files below its targets.
pub(crate) fn widen(name: &str, rest: &[Field<'_>], place: &Place, draft: &mut Draft) {
    second_names(name, rest, place, draft);
    named_by_options(name, rest, place, draft);
    named_by_scripts(name, rest, place, draft);
    let Some(manner) = manner(name, rest) else { return };
    let breadth = match manner {
        Manner::Search { hidden: false } => Breadth::Visible,
        Manner::Search { hidden: true } | Manner::Whole => Breadth::Below,
    };
    let looks = |access: Access| matches!(access, Access::Read | Access::Look);
    let is_search = matches!(manner, Manner::Search { .. });
    let included = if is_search { included(name, rest) } else { Vec::new() };
    let mut roots: Vec<String> = Vec::new();
    for aim in draft.aims.iter_mut().filter(|aim| looks(aim.access) && aim.breadth == Breadth::One) {
        if !matches!(aim.kind, TargetType::Directory | TargetType::Path | TargetType::File) {
            continue;
        }
        roots.push(aim.value.clone());
        if included.is_empty() {
            aim.breadth = breadth;
        }
    }
    if is_search && roots.is_empty() && draft.aims.iter().all(|aim| !looks(aim.access)) {
        roots.push(place.locate("."));
        if included.is_empty() {
            draft.reaches.push(FileUse { path: roots.first().cloned(), access: FileAccess::Read, breadth });
        }
    }
    for root in &roots {
        for pattern in &included {
            let path = Some(format!("{root}/**/{pattern}"));
            draft.reaches.push(FileUse { path, access: FileAccess::Read, breadth: Breadth::Pattern });
        }
    }
}

/// Files that a script of `sed` or a program of `awk` names.
fn named_by_scripts(name: &str, rest: &[Field<'_>], place: &Place, draft: &mut Draft) {
    let files: Vec<(Option<String>, FileAccess)> = match name {
        "sed" | "gsed" => {
            let runs = sed::read(&sed::script(rest));
            let written = runs.writes.into_iter().map(|file| (Some(file), FileAccess::Write));
            written.chain(runs.reads.into_iter().map(|file| (Some(file), FileAccess::Read))).collect()
        }
        "awk" | "gawk" | "mawk" | "nawk" => awk::programs(rest).into_iter().flat_map(awk::files).collect(),
        _ => return,
    };
    for (file, access) in files {
        if file.as_deref().is_some_and(|file| file.starts_with("/dev/std")) {
            continue;
        }
        if access == FileAccess::Write {
            draft.effects = draft.effects.without(Effects::NEUTRAL).and(Effects::WRITE);
        }
        let path = file.map(|file| place.locate(&file));
        let reached = FileUse { path, access, breadth: Breadth::One };
        if !draft.reaches.contains(&reached) {
            draft.reaches.push(reached);
        }
    }
}

/// Reads a file's second name: it can be read by it, and so can one that `git` shows or keeps.
fn second_names(name: &str, rest: &[Field<'_>], place: &Place, draft: &mut Draft) {
    let mut read = |path: String, breadth: Breadth| {
        draft.reaches.push(FileUse { path: Some(path), access: FileAccess::Read, breadth });
    };
    match name {
        "gzip" | "bzip2" | "xz" | "zstd" | "lz4" | "brotli" => {
            let files: Vec<FileUse> = draft
                .aims
                .iter()
                .filter(|aim| aim.access == Access::Write && aim.kind != TargetType::Unknown)
                .map(|aim| FileUse {
                    path: Some(aim.value.clone()),
                    access: FileAccess::Read,
                    breadth: aim.breadth,
                })
                .collect();
            draft.reaches.extend(files);
        }
        "mv" | "ln" | "rename" => {
            let sources: Vec<(String, Breadth)> = draft
                .aims
                .iter()
                .filter(|aim| matches!(aim.access, Access::Delete | Access::Mention))
                .filter(|aim| matches!(aim.kind, TargetType::File | TargetType::Path | TargetType::Directory))
                .map(|aim| (aim.value.clone(), aim.breadth))
                .collect();
            for (path, breadth) in sources {
                draft.reaches.push(FileUse { path: Some(path), access: FileAccess::Read, breadth });
            }
        }
        "git" => {
            let words: Vec<&Field<'_>> = rest.iter().filter(|field| !field.is_option()).collect();
            let Some((command, rest)) = words.split_first() else { return };
            for field in rest.iter().filter(|field| !field.dynamic) {
                match (&*command.text, field.text.split_once(':')) {
                    // `git show HEAD:.env` shows the file as `cat .env` would.
                    ("show" | "cat-file" | "diff" | "archive", Some((_, path))) if !path.is_empty() => {
                        read(place.locate(path), Breadth::One);
                    }
                    ("hash-object", _) => read(place.locate(&field.text), Breadth::One),
                    ("archive", None) => read(place.locate(&field.text), Breadth::Below),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Options of any program whose value is a folder or file that it writes.
const WRITTEN: &str = "--target-dir --out-dir --outdir --outfile --output-directory";

/// Files that stand in the options of a program and that no row of a table names.
fn named_by_options(name: &str, rest: &[Field<'_>], place: &Place, draft: &mut Draft) {
    let writes = changes_files(draft.effects);
    let mut add = |path: &str, access: FileAccess| {
        let path = Some(place.locate(path)).filter(|path| !path.contains(['$', '`']));
        draft.reaches.push(FileUse { path, access, breadth: Breadth::One });
    };
    let mut fields = rest.iter().map(|field| &*field.text).peekable();
    let makes = matches!(name, "mktemp" | "mkfifo" | "mknod");
    let makes_folders =
        name == "install" && rest.iter().any(|field| matches!(&*field.text, "-d" | "--directory"));
    while let Some(text) = fields.next() {
        let (option, stuck) =
            text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        let access = match (name, option) {
            (_, "--env-file") | ("wget", "--post-file" | "--body-file") => Some(FileAccess::Read),
            ("gpg" | "gpg2", "-o" | "--output") | ("cmake", "-B") | ("mktemp", "-p" | "--tmpdir") => {
                Some(FileAccess::Write)
            }
            ("gs", "-sOutputFile") | ("pdftk", "output") => Some(FileAccess::Write),
            ("less", "-o" | "-O" | "--log-file" | "--LOG-FILE") => Some(FileAccess::Write),
            ("psql", "-o" | "--output" | "-L" | "--log-file") => Some(FileAccess::Write),
            ("history", "-w" | "-a") => Some(FileAccess::Write),
            ("git", "--work-tree" | "--git-dir") => writes.then_some(FileAccess::Write),
            _ if is_listed(WRITTEN, option) => Some(FileAccess::Write),
            _ => None,
        };
        let attached = match name {
            // `-d @file` and `-F name=@file` send what is in the file.
            "curl" => text.strip_prefix('@').or_else(|| text.split_once("=@").map(|(_, file)| file)),
            "sqlite3" | "duckdb" => [".output ", ".once ", ".backup ", ".save ", ".log "]
                .into_iter()
                .find_map(|command| text.strip_prefix(command)),
            "less" | "psql" if !text.starts_with("--") => {
                ["-o", "-O", "-L"].into_iter().find_map(|option| text.strip_prefix(option))
            }
            "7z" | "7za" => text.strip_prefix("-o").filter(|folder| !folder.is_empty()),
            _ => None,
        };
        if let Some(access) = access {
            if let Some(value) = stuck.or_else(|| fields.peek().copied()) {
                add(value, access);
            }
        } else if let Some(file) = attached {
            add(file, if name == "curl" { FileAccess::Read } else { FileAccess::Write });
        } else if (makes || makes_folders) && !text.starts_with('-') {
            add(text, FileAccess::Write);
        }
    }
    // Settings of the user and of the machine are files outside any project.
    let scope = |wanted: &str| rest.iter().any(|field| field.text == wanted);
    if name == "git" && draft.operation == "change_config" {
        let file = if scope("--system") { "/etc/gitconfig" } else { "~/.gitconfig" };
        if scope("--global") || scope("--system") {
            let path = Some(file.to_owned());
            draft.reaches.push(FileUse { path, access: FileAccess::Write, breadth: Breadth::One });
        }
    }
}

const fn changes_files(effects: Effects) -> bool {
    effects.has(Effect::Write) || effects.has(Effect::Destructive)
}

fn manner(name: &str, rest: &[Field<'_>]) -> Option<Manner> {
    let arguments = Arguments::read(rest, "-e -f -A -B -C -m -g -t -T --include --exclude", Style::Gnu);
    let recursive = |letters: &str| arguments.has(letters);
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "ggrep" | "ugrep" | "rg" | "ripgrep" | "ag" | "ack" => {
            // Names and counts show nothing of a file.
            if arguments.has("-l -L -c -q --files-with-matches --files-without-match --count --quiet --files")
            {
                return None;
            }
            match name {
                "rg" | "ripgrep" => {
                    let hidden = arguments.has("-. --hidden -u --unrestricted --no-ignore --pre");
                    Some(Manner::Search { hidden })
                }
                "ag" => Some(Manner::Search { hidden: arguments.has("-u --unrestricted --hidden -a") }),
                "ack" => Some(Manner::Search { hidden: true }),
                _ => recursive("-r -R --recursive --dereference-recursive -d")
                    .then_some(Manner::Search { hidden: true }),
            }
        }
        // Without an index it searches what no commit has, hidden names too.
        "git" => (rest.iter().find(|field| !field.is_option()).is_some_and(|field| field.text == "grep")
            && arguments.has("--no-index --untracked --no-exclude-standard")
            && !arguments.has("-l -L -c -q --files-with-matches --name-only --count --quiet"))
        .then_some(Manner::Search { hidden: true }),
        "cp" | "gcp" => recursive("-r -R -a --recursive --archive").then_some(Manner::Whole),
        "scp" => recursive("-r").then_some(Manner::Whole),
        "rsync" => recursive("-r -a --recursive --archive").then_some(Manner::Whole),
        "zip" => recursive("-r --recurse-paths").then_some(Manner::Whole),
        "diff" => recursive("-r --recursive").then_some(Manner::Whole),
        "tar" | "bsdtar" | "gtar" | "7z" | "7za" => Some(Manner::Whole),
        _ => None,
    }
}

/// Returns the patterns for names that a search is restricted to.
fn included(name: &str, rest: &[Field<'_>]) -> Vec<String> {
    let options = match name {
        "rg" | "ripgrep" => "-g --glob --iglob",
        _ => "--include",
    };
    let mut patterns = Vec::new();
    let mut fields = rest.iter().map(|field| &*field.text);
    while let Some(text) = fields.next() {
        let value = match text.split_once('=') {
            Some((option, value)) if is_listed(options, option) => Some(value),
            _ if is_listed(options, text) => fields.next(),
            _ => None,
        };
        patterns.extend(value.filter(|value| !value.starts_with('!')).map(str::to_owned));
    }
    patterns
}
