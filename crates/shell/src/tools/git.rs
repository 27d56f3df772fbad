//! Version control: git and its relatives.

use super::Call;
use super::paths::is_url;
use super::table::{Operands, Tool, adds, asks, destroys, reads, runs, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;
use crate::path::base;
use crate::words::Field;

const PULLS: Effects = Effects::WRITE.and(Effects::NETWORK);
const LOSES: Effects = Effects::DESTROY.and(Effects::WRITE);
const FORCED: Effects = Effects::DESTROY.and(Effects::NETWORK);
const LOG_VALUES: &str = "-n --max-count --skip --since --after --until --before --author --committer --grep --format \
    --pretty --date -L -S -G --decorate-refs --diff-filter --stat-width -U --unified -O --word-diff-regex --color";
const COMMIT_VALUES: &str = "-m --message -F --file -C --reuse-message -c --reedit-message --author --date -t --template \
    --fixup --squash --trailer --cleanup -u";

pub(super) const TOOLS: &[Tool] = &[
    tool("git", "git_command", Effects::UNKNOWN)
        .confidence(crate::model::Confidence::Medium)
        .values("-C -c --git-dir --work-tree --namespace --exec-path --config-env")
        .directory("-C")
        .subcommands(GIT),
    tool("gitk tig lazygit gitui", "open_program", Effects::READ),
    tool("git-lfs", "vcs_write", PULLS),
    tool("svn hg jj sl", "git_command", Effects::UNKNOWN)
        .confidence(crate::model::Confidence::Medium)
        .values("-R --repository --cwd -m --message -r --revision")
        .directory("-R --repository --cwd")
        .subcommands(OTHERS),
];

const GIT: &[Tool] = &[
    reads("status", "inspect_status").values("-u --untracked-files").reader(path_specs),
    reads("log shortlog reflog whatchanged", "inspect_history")
        .values(LOG_VALUES)
        .outputs("--output")
        .reader(history),
    reads("show", "inspect_history").values(LOG_VALUES).outputs("--output").reader(history_paths),
    reads("diff difftool range-diff", "inspect_diff").values(LOG_VALUES).outputs("--output").reader(history_paths),
    reads("blame annotate", "inspect_history").values("-L -w --since").reader(path_specs),
    reads("rev-parse rev-list describe merge-base name-rev for-each-ref symbolic-ref show-ref cherry", "inspect_refs")
        .values("--format --sort --count"),
    reads("ls-files check-ignore check-attr", "list").reader(path_specs),
    reads("ls-tree cat-file", "list").reader(history_paths),
    reads("grep", "search").values("-e -A -B -C -m --max-depth -O").operands(Operands::PatternThenPaths("-e")),
    reads("var version help count-objects verify-commit verify-tag diff-tree diff-index diff-files show-branch", "inspect_refs"),
    reads("fsck", "verify"),
    asks("ls-remote", "inspect_refs"),
    tool("remote", "inspect_refs", Effects::READ).reader(remote),
    tool("config", "inspect_config", Effects::READ).values("-f --file --blob --type --default").reader(config),
    tool("branch", "inspect_refs", Effects::READ)
        .values("-u --set-upstream-to --contains --no-contains --merged --no-merged --points-at --format --sort")
        .reader(branch),
    tool("tag", "inspect_refs", Effects::READ)
        .values("-m --message -F --file -u --local-user --contains --points-at --sort --format -n --merged --no-merged")
        .reader(tag),
    writes("add stage", "stage").values("--chmod --pathspec-from-file").reader(path_specs),
    writes("commit", "commit").values(COMMIT_VALUES).inputs("-F --file").reader(commit),
    tool("restore", "vcs_write", Effects::WRITE).values("-s --source").reader(restore),
    tool("checkout co", "switch_branch", Effects::WRITE).values("-b -B --orphan --conflict").reader(checkout),
    tool("switch", "switch_branch", Effects::WRITE)
        .values("-c -C --create --force-create --orphan")
        .cases(&[adds("-f --force --discard-changes -C", Effects::DESTROY)])
        .reader(branch_operand),
    writes("merge", "merge").values("-m --message -s --strategy -X --strategy-option -F").reader(branch_operand),
    writes("rebase", "rebase").values("--onto -s --strategy -X -x --exec").reader(rebase),
    writes("cherry-pick revert", "vcs_write").values("-m --mainline -s --strategy -X").operands(Operands::Detail),
    writes("am", "vcs_write").operands(Operands::Files(Access::Read)),
    writes("apply", "apply_patch")
        .values("-p --directory --exclude --include --whitespace")
        .cases(&[turns("--check --stat --numstat --summary", "compare", Effects::READ)])
        .operands(Operands::Files(Access::Read)),
    destroys("reset", "reset").values("--pathspec-from-file").reader(reset),
    tool("stash", "stash", Effects::WRITE).values("-m --message").reader(stash),
    // `git clean` refuses to delete without `-f` unless a setting allows it, so the row looks and the reader deletes.
    reads("clean", "inspect_clean").values("-e --exclude").reader(clean),
    writes("rm", "delete_file").reader(remove),
    writes("mv", "rename_file").operands(Operands::SourceThenTarget(Access::Delete)),
    writes("init", "create_repository").values("-b --initial-branch --template --separate-git-dir").operands(Operands::Directories(Access::Write)),
    tool("clone", "fetch_repo", PULLS)
        .values("-b --branch --depth -o --origin --reference --template -c --config --filter --separate-git-dir -j --jobs --shallow-since")
        .reader(clone),
    tool("pull", "fetch_repo", PULLS).values("-s --strategy -X --depth").operands(Operands::Detail),
    tool("fetch", "fetch_repo", Effects::NETWORK).values("--depth --shallow-since -j --jobs --refmap -o").operands(Operands::Detail),
    tool("push", "publish", Effects::NETWORK).values("-o --push-option --receive-pack --repo").reader(push),
    tool("worktree", "inspect_refs", Effects::READ).values("-b -B --reason").reader(worktree),
    tool("submodule", "inspect_refs", Effects::READ).reader(submodule),
    tool("bisect", "vcs_write", Effects::WRITE).operands(Operands::Detail),
    tool("notes replace update-ref update-index read-tree write-tree commit-tree hash-object", "vcs_write", Effects::WRITE),
    tool("gc prune repack pack-refs maintenance", "maintain", Effects::WRITE),
    destroys("filter-branch filter-repo", "rewrite_history"),
    tool("archive bundle format-patch", "write_file", Effects::WRITE).values("-o --output --format --prefix").outputs("-o --output").reader(patches),
    tool("lfs", "vcs_write", PULLS),
    tool("send-email", "publish", Effects::NETWORK),
    tool("sparse-checkout", "vcs_write", Effects::WRITE),
    runs("mergetool citool gui", "open_program"),
];

/// Subversion, Mercurial, Jujutsu, Sapling: the words they share.
const OTHERS: &[Tool] = &[
    reads(
        "status st log diff show blame annotate info cat list ls identify id files tip heads summary",
        "inspect_history",
    ),
    writes(
        "add commit ci describe desc new edit squash split abandon update up checkout bookmark merge graft backout move mv rename copy cp",
        "vcs_write",
    ),
    destroys("revert restore strip purge", "reset"),
    tool("pull fetch clone", "fetch_repo", PULLS),
    tool("push", "publish", Effects::NETWORK),
    tool("git", "fetch_repo", PULLS),
];

/// Returns `true` for a word that names a revision rather than a path.
fn is_revision(text: &str) -> bool {
    // Git shortens to at least seven digits by default, and SHA-1 has forty: `def` is the name of a branch or a file.
    let hex = (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex || text.starts_with("HEAD")
        || text.starts_with('@')
        || text.contains("..")
        || text.contains(['~', '^'])
        || text.starts_with("origin/")
        || text.starts_with("upstream/")
        || text.starts_with("refs/")
        || text.starts_with("stash@")
        || matches!(text, "main" | "master" | "develop" | "trunk")
}

/// Paths after `--`; without it, the operands that look like paths.
fn specs<'f, 't>(call: &Call<'_, 'f, 't>) -> Vec<&'f Field<'t>> {
    if call.arguments.before_dashes.is_some() {
        return call.arguments.after_dashes().to_vec();
    }
    call.arguments
        .operands
        .iter()
        .copied()
        // The output of a command before `--` is a revision far more often than a path.
        .filter(|field| !is_revision(&field.text) && !field.text.contains(':') && !field.dynamic)
        .collect()
}

fn path_specs(call: &mut Call<'_, '_, '_>) {
    let access = match call.draft.operation {
        "stage" => Access::Look,
        "list" | "inspect_status" => Access::Look,
        _ => Access::Read,
    };
    for field in specs(call) {
        call.aim(field, TargetType::File, access);
    }
    if call.draft.operation == "stage" && call.arguments.has("-A --all -u --update") {
        call.draft.detail = Some("all changes".to_owned());
    }
}

/// Returns the operands of a command that takes revisions and then paths. `git diff feature/x` and `git show v1.2`
/// name a revision: without `--` only what cannot be one, and everything behind it, is a path.
fn paths_behind_revisions<'f, 't>(call: &Call<'_, 'f, 't>) -> Vec<&'f Field<'t>> {
    let fields = specs(call);
    if call.arguments.before_dashes.is_some() || call.arguments.has("--no-index") {
        return fields;
    }
    fields.into_iter().skip_while(|field| !is_clearly_path(&field.text)).collect()
}

fn history_paths(call: &mut Call<'_, '_, '_>) {
    let access = if call.draft.operation == "list" { Access::Look } else { Access::Read };
    for field in paths_behind_revisions(call) {
        call.aim(field, TargetType::File, access);
    }
}

/// Returns `true` for a word that no revision looks like: it begins or ends as paths do, or is the name of a file by
/// its ending or by custom.
fn is_clearly_path(text: &str) -> bool {
    text.starts_with(['.', '/', '~'])
        || text.ends_with('/')
        || text.contains(['*', '?', '['])
        || has_file_ending(text)
        || FILES_BY_NAME.contains(&base(text))
}

/// Files without an ending that most repositories have.
const FILES_BY_NAME: &[&str] = &[
    "BUILD",
    "CHANGELOG",
    "CODEOWNERS",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
    "justfile",
    "makefile",
];

fn history(call: &mut Call<'_, '_, '_>) {
    history_paths(call);
    if matches!(call.arguments.operand(0), Some("expire" | "delete")) {
        call.becomes("rewrite_history", Effects::DESTROY);
    }
}

fn branch_operand(call: &mut Call<'_, '_, '_>) {
    let created = call.arguments.value("-c -C -b -B --create --force-create --orphan").map(str::to_owned);
    let operand = call.arguments.operand(0).map(str::to_owned);
    call.draft.detail = created.or(operand);
    if call.arguments.has("--abort --quit") {
        call.draft.detail = Some("abort".to_owned());
    }
}

fn remote(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("add" | "set-url" | "rename" | "set-head" | "set-branches") => {
            call.becomes("vcs_write", Effects::WRITE);
            if let Some(url) = call.arguments.operands.iter().find(|field| is_url(&field.text)).copied() {
                call.name(TargetType::Url, &url.text);
            }
        }
        Some("remove" | "rm" | "prune") => call.becomes("vcs_write", Effects::WRITE),
        Some("update" | "show") => call.also(Effects::NETWORK),
        _ => {}
    }
}

fn config(call: &mut Call<'_, '_, '_>) {
    let words = call.arguments.operands.len();
    let writes = call
        .arguments
        .has("--unset --unset-all --add --replace-all --rename-section --remove-section -e --edit")
        || matches!(call.arguments.operand(0), Some("set" | "unset" | "edit"))
        || words >= 2
            && !matches!(call.arguments.operand(0), Some("get" | "list"))
            && !call.arguments.has("--get --get-all --get-regexp -l --list");
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    if writes {
        call.becomes("change_config", Effects::WRITE);
    }
}

fn branch(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    // `-d` refuses where a branch is not merged; only what is forced can lose commits.
    if call.arguments.has("-D") || call.arguments.has("-d --delete") && call.arguments.has("-f --force") {
        call.becomes("delete_branch", LOSES);
    } else if call.arguments.has("-d --delete") {
        call.becomes("delete_branch", Effects::WRITE);
    } else if call
        .arguments
        .has("-M -m --move -C -c --copy -u --set-upstream-to --unset-upstream --edit-description -f --force")
    {
        call.becomes("vcs_write", Effects::WRITE);
    } else if call.arguments.operand(0).is_some()
        && !call
            .arguments
            .has("-l --list -a --all -r --remotes -v --contains --merged --no-merged --show-current")
    {
        call.becomes("create_branch", Effects::WRITE);
    }
}

fn tag(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    if call.arguments.has("-d --delete") {
        // Git writes no reflog for tags by default: a commit that only the tag held is found no more.
        call.becomes("delete_tag", LOSES);
    } else if call.arguments.operand(0).is_some()
        && !call.arguments.has("-l --list -n --contains --points-at --merged -v --verify")
    {
        call.becomes("create_tag", Effects::WRITE);
    }
}

fn commit(call: &mut Call<'_, '_, '_>) {
    let message = call.arguments.value("-m --message").map(str::to_owned);
    call.draft.detail = message.as_deref().and_then(|message| {
        let first = message.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(first.chars().take(120).collect())
    });
    for field in specs(call) {
        call.aim(field, TargetType::File, Access::Look);
    }
}

/// Reads `git restore`: `--staged` keeps the file; without it the changes in the file are gone.
fn restore(call: &mut Call<'_, '_, '_>) {
    let staged_only = call.arguments.has("-S --staged") && !call.arguments.has("-W --worktree");
    for field in call.arguments.operands.clone() {
        call.aim(field, TargetType::File, if staged_only { Access::Look } else { Access::Write });
    }
    if !staged_only {
        call.becomes("discard_changes", LOSES);
    } else {
        call.draft.operation = "unstage";
    }
}

/// Reads `git checkout`: a branch, a new branch, or files whose changes are thrown away.
fn checkout(call: &mut Call<'_, '_, '_>) {
    if let Some(created) = call.arguments.value("-b -B --orphan") {
        call.draft.detail = Some(created.to_owned());
        call.draft.operation = "create_branch";
        return;
    }
    let dashed = call.arguments.before_dashes.is_some();
    let fields = call.arguments.operands.clone();
    let paths: Vec<&Field<'_>> = if dashed {
        call.arguments.after_dashes().to_vec()
    } else {
        fields
            .iter()
            .copied()
            .enumerate()
            .filter(|(position, field)| {
                let text = &*field.text;
                // Behind the first word only paths can stand: `git checkout main a.rs` takes the file from there.
                text == "."
                    || *position > 0
                    || text.starts_with("./")
                    || !is_revision(text) && has_file_ending(text)
            })
            .map(|(_, field)| field)
            .collect()
    };
    if paths.is_empty() {
        call.draft.detail = fields.first().map(|field| field.text.clone().into_owned());
        if call.arguments.has("-f --force") {
            call.also(Effects::DESTROY);
        }
        return;
    }
    for field in paths {
        call.aim(field, TargetType::File, Access::Write);
    }
    call.becomes("discard_changes", LOSES);
}

/// Returns `true` if a name has an ending: `src/a.rs` has one; `feature/x`, `v1.2`, `v2.0.beta` and `release/3.x`
/// have none.
fn has_file_ending(text: &str) -> bool {
    base(text).rsplit_once('.').is_some_and(|(stem, ending)| {
        let stage = ending.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let is_release =
            stem.ends_with(|letter: char| letter.is_ascii_digit()) && RELEASE_STAGES.contains(&stage);
        !stem.is_empty()
            && !is_release
            && (1..=7).contains(&ending.len())
            && ending.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Suffixes behind the number in the name of a release.
const RELEASE_STAGES: &[&str] =
    &["x", "a", "b", "rc", "alpha", "beta", "dev", "pre", "post", "next", "final", "lts"];

fn rebase(call: &mut Call<'_, '_, '_>) {
    let onto = call.arguments.value("--onto").map(str::to_owned);
    call.draft.detail = onto.or_else(|| call.arguments.operand(0).map(str::to_owned));
    for stage in ["--abort", "--continue", "--skip", "--quit"] {
        if call.arguments.has(stage) {
            call.draft.detail = Some(stage.trim_start_matches('-').to_owned());
        }
    }
}

/// Reads `git reset`: only `--hard` loses work; a plain reset of paths unstages them.
fn reset(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    if call.arguments.has("--hard --merge --keep") {
        call.draft.operation = "reset_hard";
        call.draft.effects = LOSES;
        return;
    }
    call.becomes("vcs_write", Effects::WRITE);
    for field in paths_behind_revisions(call) {
        call.aim(field, TargetType::File, Access::Look);
    }
}

fn stash(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    match call.arguments.operand(0) {
        Some("list" | "show") => call.becomes("inspect_history", Effects::READ),
        Some("drop" | "clear") => call.becomes("drop_stash", LOSES),
        _ => {}
    }
}

fn clean(call: &mut Call<'_, '_, '_>) {
    let dry = call.arguments.has("-n --dry-run") && !call.arguments.has_beginning("--no-dry-run");
    if !dry && (call.arguments.has("-f --force -i --interactive") || call.arguments.has("-d -x -X")) {
        call.becomes("clean_worktree", Effects::DESTROY);
        call.draft.recursive = call.arguments.has("-d");
    }
    for field in call.arguments.operands.clone() {
        call.aim(field, TargetType::Path, if dry { Access::Look } else { Access::Delete });
    }
}

fn remove(call: &mut Call<'_, '_, '_>) {
    let cached = call.arguments.has("--cached");
    if !cached {
        call.becomes("delete_file", LOSES);
        call.draft.recursive = call.arguments.has("-r");
    } else {
        call.draft.operation = "vcs_write";
    }
    for field in call.arguments.operands.clone() {
        call.aim(field, TargetType::Path, if cached { Access::Look } else { Access::Delete });
    }
}

fn clone(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    if let Some(source) = fields.first() {
        let kind = if is_url(&source.text) { TargetType::Url } else { TargetType::Unknown };
        let kind = if kind == TargetType::Unknown && !source.dynamic { TargetType::Path } else { kind };
        call.name(kind, &source.text);
        match fields.get(1) {
            Some(target) => call.aim(target, TargetType::Directory, Access::Write),
            None if !source.dynamic => {
                let name = base(&source.text)
                    .trim_end_matches(".git")
                    .rsplit(':')
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                call.aim_text(&name, TargetType::Directory, Access::Write);
            }
            None => {}
        }
    }
}

fn push(call: &mut Call<'_, '_, '_>) {
    let words: Vec<&str> = call.arguments.operands.iter().map(|field| &*field.text).collect();
    call.draft.detail = (!words.is_empty()).then(|| words.join(" "));
    // A lease refuses where the remote moved on, and replaces commits all the same. The first word is the remote; `+`
    // and `:` before a reference force or delete that one without any option.
    let forced = call.arguments.has_beginning("-f --force --force-with-lease --force-if-includes --mirror")
        || words.iter().skip(1).any(|reference| reference.starts_with('+'));
    let deletes = call.arguments.has_beginning("-d --delete --prune")
        || words.iter().skip(1).any(|reference| reference.starts_with(':'));
    if forced {
        call.becomes("force_publish", FORCED);
    } else if deletes {
        call.becomes("delete_branch", FORCED);
    }
    // Of the two options the last one counts; a line with both is read as one that pushes.
    if call.arguments.has("-n --dry-run") && !call.arguments.has_beginning("--no-dry-run") {
        call.becomes("publish", Effects::NETWORK.and(Effects::READ));
    }
}

fn worktree(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    call.draft.detail = fields.first().map(|field| field.text.clone().into_owned());
    let path = fields.get(1).copied();
    match call.arguments.operand(0) {
        Some("add" | "move" | "repair" | "lock" | "unlock") => {
            call.becomes("vcs_write", Effects::WRITE);
            if let Some(path) = path {
                call.aim(path, TargetType::Directory, Access::Write);
            }
        }
        Some("remove") => {
            // Without force git keeps a worktree that has changes.
            let forced = call.arguments.has_beginning("-f --force");
            call.becomes("vcs_write", if forced { LOSES } else { Effects::WRITE });
            call.draft.recursive = forced;
            if let Some(path) = path {
                call.aim(path, TargetType::Directory, Access::Delete);
            }
        }
        Some("prune") => call.becomes("vcs_write", Effects::WRITE),
        _ => {}
    }
}

fn submodule(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    match call.arguments.operand(0) {
        Some("update" | "add" | "sync") => call.becomes("fetch_repo", PULLS),
        Some("init" | "set-url" | "set-branch" | "absorbgitdirs") => {
            call.becomes("vcs_write", Effects::WRITE)
        }
        Some("deinit") => call.becomes("vcs_write", LOSES),
        // It runs a command in each of them, which `walk::argument_commands` reads.
        Some("foreach") => call.becomes("vcs_write", Effects::UNKNOWN),
        _ => {}
    }
}

fn patches(call: &mut Call<'_, '_, '_>) {
    if let [create, file, ..] = call.arguments.operands.clone().as_slice()
        && create.text == "create"
    {
        call.aim(file, TargetType::File, Access::Write);
    }
    // Without a file they print.
    if call.arguments.has("--stdout") {
        call.becomes("inspect_diff", Effects::READ);
    }
}
