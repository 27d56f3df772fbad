//! Text: searching, filtering, transforming.

use super::Call;
use super::table::{Operands, Tool, adds, reads, tool, turns};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

const GREP_VALUES: &str = "-e --regexp -f --file -A -B -C --context --after-context --before-context -m --max-count \
    --include --exclude --exclude-dir --color --colour -d -D --label";
const RG_VALUES: &str = "-e --regexp -f --file -A -B -C --context --after-context --before-context -m --max-count \
    -g --glob --iglob -t --type -T --type-not --type-add -d --max-depth --sort --sortr --color --colors -j --threads \
    -M --max-columns -E --encoding --max-filesize -r --replace --pre --pre-glob --context-separator --ignore-file";

pub(super) const TOOLS: &[Tool] = &[
    reads("grep egrep fgrep zgrep ggrep", "search")
        .values(GREP_VALUES)
        .operands(Operands::PatternThenPaths("-e --regexp")),
    reads("rg ripgrep", "search")
        .values(RG_VALUES)
        .operands(Operands::PatternThenPaths("-e --regexp"))
        .reader(ripgrep),
    reads("ag ack ugrep", "search")
        .values("-A -B -C -m -G --ignore --ignore-dir -g --depth -t --type")
        .operands(Operands::PatternThenPaths("")),
    reads("ast-grep sg semgrep", "search")
        .values("-p --pattern -l --lang -c --config -r --rewrite --rule -e -o --output")
        .reader(ast_grep),
    reads("locate mdfind fzf", "search").operands(Operands::Detail),
    tool("sed gsed", "transform", Effects::READ).values("-e --expression -f --file -l").reader(sed),
    reads("awk gawk mawk nawk", "transform").values("-F -v -f --file --field-separator --assign").reader(awk),
    reads("jq gojq jaq", "transform")
        .values("--arg --argjson --slurpfile --rawfile --indent -f --from-file --tab -L")
        .reader(jq),
    reads("yq dasel", "transform")
        .values("-o --output-format -p --input-format -I --indent -f")
        .cases(&[turns("-i --inplace --in-place", "edit_in_place", Effects::WRITE)])
        .reader(yq),
    reads("xq htmlq pup xmllint xsltproc mlr csvcut csvgrep csvstat csvlook qsv xsv", "transform")
        .values("--xpath --schema --format -c --output -o")
        .outputs("-o --output"),
    reads("sort", "sort_output")
        .values("-k --key -t --field-separator -S --buffer-size -T --parallel")
        .outputs("-o --output")
        .cases(&[turns("-o --output", "write_file", Effects::READ.and(Effects::WRITE))])
        .operands(Operands::Files(Access::Read)),
    reads("uniq", "filter").values("-f -s -w -n").operands(Operands::Files(Access::Read)).reader(uniq),
    reads("cut", "filter")
        .values("-d -f -c -b --delimiter --fields --characters --output-delimiter")
        .operands(Operands::Files(Access::Read)),
    reads("tr", "filter"),
    reads("column", "filter").values("-s -o -c -N -R -H").operands(Operands::Files(Access::Read)),
    reads("paste join", "filter")
        .values("-d -t -j -1 -2 -o --delimiters")
        .operands(Operands::Files(Access::Read)),
    reads("fold fmt rev expand unexpand pr shuf tsort numfmt look iconv unix2dos dos2unix", "transform")
        .values("-w -s -n -t -f --from --to -i")
        .outputs("-o --output")
        .operands(Operands::Files(Access::Read))
        .reader(converts_in_place),
    reads("base64 base32 uuencode uudecode openssl-base64", "transform")
        .values("-w --wrap -i -o")
        .operands(Operands::Files(Access::Read)),
    reads("envsubst gettext", "transform"),
    reads("glow mdcat pandoc", "transform")
        .values("-f -t -o --from --to --output")
        .outputs("-o --output")
        .cases(&[turns("-o --output", "write_file", Effects::WRITE)])
        .operands(Operands::Files(Access::Read)),
    tool("patch", "apply_patch", Effects::WRITE)
        .values("-i --input -p --strip -d --directory -o --output -r")
        .inputs("-i --input")
        .directory("-d --directory")
        .cases(&[turns("--dry-run", "compare", Effects::READ)])
        .reader(patch),
    reads("ctags cscope", "generate")
        .values("-f -o -L")
        .outputs("-f -o")
        .cases(&[adds("-f -o", Effects::WRITE)]),
    reads("cloc tokei scc sloccount", "inspect_usage").operands(Operands::PathsOrHere(Access::Look)),
    reads("uuidgen", "compute"),
];

fn ripgrep(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("--files") {
        // Every operand is a path then.
        call.draft.operation = "list";
        call.draft.aims.clear();
        call.draft.selectors.pattern = call.arguments.value("-g --glob").map(str::to_owned);
        for field in call.arguments.operands.clone() {
            call.aim(field, TargetType::Path, Access::Look);
        }
    }
    if call.arguments.has("--type-list") {
        call.draft.operation = "inspect_version";
    }
}

fn ast_grep(call: &mut Call<'_, '_, '_>) {
    call.draft.selectors.pattern = call.arguments.value("-p --pattern -e").map(str::to_owned);
    if call.arguments.has("-U --update-all -i --interactive --autofix") && call.draft.name != "semgrep" {
        call.becomes("edit_in_place", Effects::WRITE);
    } else if call.draft.name == "semgrep" {
        call.becomes("run_lint", Effects::CHECK);
        if call.arguments.has("--autofix") {
            call.also(Effects::WRITE);
        }
    }
    for field in call.arguments.operands.clone() {
        if !matches!(&*field.text, "run" | "scan" | "test" | "ci") {
            call.aim(field, TargetType::Path, Access::Read);
        }
    }
}

fn sed(call: &mut Call<'_, '_, '_>) {
    let given: Vec<String> =
        call.arguments.values("-e --expression").map(|(script, _)| script.to_owned()).collect();
    let from_file = call.arguments.has("-f --file");
    // BSD `sed -i '' script file`: the empty word belongs to `-i`.
    let in_place = call.arguments.has("-i --in-place -I");
    let mut fields = call.arguments.operands.clone();
    if in_place && fields.first().is_some_and(|field| field.text.is_empty()) {
        fields.remove(0);
    }
    let script = if given.is_empty() && !from_file && !fields.is_empty() {
        fields.remove(0).text.clone().into_owned()
    } else {
        given.join("\n")
    };
    let access = if in_place { Access::Write } else { Access::Read };
    for field in fields {
        call.aim(field, TargetType::File, access);
    }
    if in_place {
        call.becomes("edit_in_place", Effects::WRITE);
    } else if let Some(range) = printed_lines(&script).filter(|_| call.arguments.has("-n --quiet --silent")) {
        call.draft.operation = "read_range";
        call.draft.selectors.line_range = Some(range);
    } else if call.draft.aims.iter().any(|aim| aim.access == Access::Read) {
        call.draft.operation = "read_file";
    }
    // `w file` inside a script, where it is plain; what rules have to know is found by a reader of its own.
    let written = script.split_once("/w ").map(|(_, file)| file).or_else(|| {
        let command = script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' '));
        command.strip_prefix("w ")
    });
    if let Some(file) = written {
        let file = file.lines().next().unwrap_or_default().trim().to_owned();
        call.also(Effects::WRITE);
        call.aim_text(&file, TargetType::File, Access::Write);
    }
}

/// Reads `10,40p`, `5p`, `10,$p`, `1,3p;10p`: the lines of the first range.
fn printed_lines(script: &str) -> Option<String> {
    let first = script.split([';', '\n']).next()?.trim();
    let lines = first.strip_suffix('p')?.trim();
    let is_line = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match lines.split_once(',') {
        Some((from, "$")) if is_line(from) => Some(format!("{from}-")),
        Some((from, to)) if is_line(from) && is_line(to) => Some(format!("{from}-{to}")),
        Some((from, count)) if is_line(from) && count.strip_prefix('+').is_some_and(is_line) => {
            let start: u64 = from.parse().ok()?;
            let more: u64 = count.trim_start_matches('+').parse().ok()?;
            Some(format!("{start}-{}", start.saturating_add(more)))
        }
        None if is_line(lines) => Some(format!("{lines}-{lines}")),
        _ => None,
    }
}

fn awk(call: &mut Call<'_, '_, '_>) {
    let from_file = call.arguments.has("-f --file");
    let fields = call.arguments.operands.clone();
    let program = fields
        .first()
        .filter(|_| !from_file)
        .map(|field| field.text.clone().into_owned())
        .unwrap_or_default();
    for field in fields.get(usize::from(!from_file)..).unwrap_or_default() {
        if !field.text.contains('=') {
            call.aim(field, TargetType::File, Access::Read);
        }
    }
    if program.contains("system(") {
        call.also(Effects::UNKNOWN);
        call.draft.at_most(crate::model::Confidence::Low);
    }
    let prints_to_file = program.split("print").skip(1).any(|rest| {
        let statement = rest.split([';', '}', '\n']).next().unwrap_or_default();
        statement.contains("> \"") || statement.contains(">\"")
    });
    if prints_to_file {
        call.becomes("write_file", Effects::READ.and(Effects::WRITE));
        let files: Vec<String> = program
            .split('>')
            .skip(1)
            .filter_map(|rest| rest.trim_start_matches('>').trim_start().strip_prefix('"')?.split('"').next())
            .map(str::to_owned)
            .collect();
        for file in files {
            call.aim_text(&file, TargetType::File, Access::Write);
        }
    }
    if call.arguments.operands.iter().any(|field| field.text == "inplace") {
        call.becomes("edit_in_place", Effects::WRITE);
    }
}

fn jq(call: &mut Call<'_, '_, '_>) {
    let skip = usize::from(!call.arguments.has("-f --from-file"));
    // `--arg name value` takes two words; the second is an operand here.
    let names = call.arguments.values("--arg --argjson --slurpfile --rawfile").count();
    let fields = call.arguments.operands.clone();
    for field in fields.get(skip + names..).unwrap_or_default() {
        call.aim(field, TargetType::File, Access::Read);
    }
}

fn yq(call: &mut Call<'_, '_, '_>) {
    let access = if call.draft.operation == "edit_in_place" { Access::Write } else { Access::Read };
    let fields = call.arguments.operands.clone();
    let skip = usize::from(
        fields.first().is_some_and(|field| matches!(&*field.text, "eval" | "e" | "eval-all" | "ea")),
    );
    for field in fields.get(skip + 1..).unwrap_or_default() {
        call.aim(field, TargetType::File, access);
    }
}

/// Reads `uniq in out`, which writes its second operand.
fn uniq(call: &mut Call<'_, '_, '_>) {
    if call.arguments.operands.len() > 1
        && let Some(output) = call.draft.aims.last_mut()
    {
        output.access = Access::Write;
        call.also(Effects::WRITE);
    }
}

fn converts_in_place(call: &mut Call<'_, '_, '_>) {
    if matches!(call.draft.name.as_str(), "dos2unix" | "unix2dos") {
        call.becomes("edit_in_place", Effects::WRITE);
        for aim in &mut call.draft.aims {
            aim.access = Access::Write;
        }
    }
}

fn patch(call: &mut Call<'_, '_, '_>) {
    if let Some(field) = call.arguments.operands.first().copied() {
        call.aim(field, TargetType::File, Access::Write);
    }
    if let Some(field) = call.arguments.operands.get(1).copied() {
        call.aim(field, TargetType::File, Access::Read);
    }
}
