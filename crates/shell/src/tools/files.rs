//! Files: reading, listing, copying, moving, deleting, and what is stored in archives and on disks.

use super::Call;
use super::table::{Operands, Tool, adds, destroys, reads, tool, turns, writes};
use crate::draft::Access;
use crate::effect::{Effect, Effects};
use crate::model::TargetType;
use crate::walk::Input;
use crate::words::Field;

const LOOK: Operands = Operands::PathsOrHere(Access::Look);
const READ: Operands = Operands::Files(Access::Read);

pub(super) const TOOLS: &[Tool] = &[
    reads("exa eza lsd", "list").values("-L --level -I --ignore-glob -s --sort -t --time").operands(LOOK),
    reads("ls ll la dir vdir", "list").values("-I --ignore -w --width --hide --sort").operands(LOOK),
    reads("tree", "list").values("-L -I -P -o --filelimit --charset").outputs("-o").operands(LOOK),
    reads("du ncdu dust", "inspect_usage").values("-d --max-depth -B --block-size -t --exclude").operands(LOOK),
    reads("df lsblk blkid findmnt", "inspect_usage"),
    reads("cat tac bat batcat less more zcat bzcat xzcat zless", "read_file")
        .values("-r --line-range -l --language --theme --style -H")
        .operands(READ)
        .reader(cat),
    reads("head tail", "limit_output").values("-n --lines -c --bytes -s --pid").operands(READ).reader(part),
    reads("wc", "limit_output").values("--files0-from").operands(READ),
    reads("xxd", "read_file").values("-l -s -c -g -o -n").operands(READ).reader(xxd),
    reads("od", "read_file").values("-A -j -N -S -t").operands(READ),
    reads("hexdump hd strings", "read_file").values("-n -s -e -f -t").operands(READ),
    reads("nl", "read_file").values("-b -d -f -h -i -l -n -s -v -w").operands(READ),
    reads("stat file", "read_file").values("-c --format -f --printf -m").operands(Operands::Paths(Access::Look)),
    reads("readlink realpath", "compute").values("--relative-to --relative-base").operands(Operands::Paths(Access::Look)),
    reads("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum sum md5", "compute_hash")
        .values("-a --algorithm")
        .operands(READ),
    reads("diff colordiff cmp comm sdiff diff3 delta difft", "compare")
        .values("-U -C -I -x --exclude --label --color")
        .operands(Operands::Paths(Access::Read)),
    destroys("rm unlink trash trash-put srm", "delete_file").operands(Operands::Paths(Access::Delete)).reader(remove),
    destroys("rmdir", "delete_file").operands(Operands::Directories(Access::Delete)),
    destroys("shred wipe", "delete_file").values("-n -s --iterations --size").operands(Operands::Files(Access::Delete)),
    destroys("truncate", "write_file").values("-s --size -r --reference").operands(Operands::Files(Access::Write)).reader(truncate),
    destroys("mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkswap wipefs fdisk parted sgdisk", "format_disk")
        .operands(Operands::Files(Access::Write)),
    writes("mv rename", "rename_file").values("-t --target-directory -S").operands(Operands::SourceThenTarget(Access::Delete)),
    writes("cp gcp", "copy_file")
        .values("-t --target-directory -S --suffix --preserve")
        .operands(Operands::SourceThenTarget(Access::Read)),
    writes("ln", "link_file")
        .values("-t --target-directory -S")
        .operands(Operands::SourceThenTarget(Access::Mention)),
    writes("install", "copy_file")
        .values("-m --mode -o --owner -g --group -t --target-directory")
        .operands(Operands::SourceThenTarget(Access::Read))
        .builtin(),
    writes("mkdir", "create_directory").values("-m --mode").operands(Operands::Directories(Access::Write)),
    writes("touch", "create_file").values("-t -d --date -r --reference").operands(Operands::Files(Access::Write)),
    writes("mktemp", "create_file").values("-p --tmpdir --suffix"),
    writes("mkfifo mknod", "create_file").values("-m --mode"),
    writes("setfacl", "change_mode")
        .values("-m -M -x -X --modify --remove --set --restore")
        .operands(Operands::Paths(Access::Write)),
    writes("chmod chown chgrp chattr chflags", "change_mode")
        .values("--from")
        .operands(Operands::SkipThenPaths(1, Access::Write)),
    writes("xattr", "change_mode"),
    tool("dd", "write_file", Effects::WRITE).reader(dd),
    writes("split csplit", "write_file").values("-b -l -n -a -C -f --prefix").outputs("-f --prefix").reader(split),
    writes("tar bsdtar gtar", "unpack")
        .values("-f --file -C --directory --exclude -T -X --strip-components -I --use-compress-program --transform")
        .reader(tar),
    writes("unzip", "unpack")
        .values("-d -x -P")
        .outputs("-d")
        .cases(&[turns("-l -t -v -Z -p", "list", Effects::READ)])
        .reader(first_is_read),
    writes("zip 7z 7za rar", "pack").values("-x -i -P -b").reader(archive),
    writes("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli", "pack")
        .cases(&[turns("-l --list -t --test -c --stdout", "read_file", Effects::READ)])
        .values("-o -S -T")
        .operands(Operands::Files(Access::Write))
        .reader(compress),
    writes("rsync", "copy_file")
        .values("-e --rsh --exclude --include --exclude-from --include-from --files-from --filter -f --rsync-path --port --bwlimit --chmod --chown --timeout --partial-dir --backup-dir --link-dest --compare-dest --log-file --password-file -M --max-size --min-size --out-format")
        .cases(&[
            adds("--delete --delete-before --delete-after --delete-during --delete-excluded --del", Effects::DESTROY),
            adds("--remove-source-files", Effects::DESTROY),
            turns("-n", "compare", Effects::READ),
        ])
        .operands(Operands::SourceThenTarget(Access::Read))
        .reader(over_network),
    writes("scp sftp", "copy_file")
        .values("-P -i -o -F -J -l -c -S -D")
        .operands(Operands::SourceThenTarget(Access::Read))
        .reader(over_network),
    reads("pbpaste xclip xsel wl-paste", "read_clipboard"),
    writes("pbcopy wl-copy", "write_clipboard"),
    tool("open xdg-open start", "open_program", Effects::NEUTRAL).operands(Operands::Paths(Access::Look)),
    tool("code cursor subl vim nvim vi nano emacs ed ex", "open_editor", Effects::UNKNOWN)
        .operands(Operands::Files(Access::Write)),
];

fn cat(call: &mut Call<'_, '_, '_>) {
    // `cat` of a here-document prints it.
    if call.arguments.operands.iter().all(|field| field.text == "-")
        && let Input::Text(text) = call.input
    {
        call.draft.output = Some(text.clone());
    }
}

/// Reads `xxd in out`, which writes its second operand.
fn xxd(call: &mut Call<'_, '_, '_>) {
    if call.arguments.operands.len() > 1
        && let Some(output) = call.draft.aims.last_mut()
    {
        output.access = Access::Write;
        call.becomes("write_file", Effects::READ.and(Effects::WRITE));
    }
}

fn remove(call: &mut Call<'_, '_, '_>) {
    let recursive = call.arguments.has_beginning("-r -R --recursive")
        || matches!(call.draft.name.as_str(), "trash" | "trash-put");
    if recursive {
        call.draft.recursive = true;
        return;
    }
    for aim in &mut call.draft.aims {
        if aim.kind == TargetType::Path && !aim.value.contains(['*', '?', '[']) {
            aim.kind = TargetType::File;
        }
    }
}

/// Reads `head` and `tail`: which lines.
fn part(call: &mut Call<'_, '_, '_>) {
    let count = call.arguments.value("-n --lines").map(str::to_owned).or_else(|| call.arguments.number());
    // Both print ten lines where no number is given.
    let count = count.unwrap_or_else(|| "10".to_owned());
    let from_start = call.draft.name == "head";
    let range = match count.strip_prefix('+') {
        Some(first) if !from_start => format!("{first}-"),
        _ if from_start => format!("1-{}", count.trim_start_matches('-')),
        _ => format!("-{}", count.trim_start_matches('-')),
    };
    if call.draft.aims.iter().any(|aim| aim.kind != TargetType::Stream) && !call.arguments.has("-c --bytes") {
        call.draft.selectors.line_range = Some(range);
        call.draft.operation = "read_range";
    }
    if call.draft.name == "tail" && call.arguments.has("-f -F --follow") {
        call.draft.operation = "follow";
    }
}

fn truncate(call: &mut Call<'_, '_, '_>) {
    // Growing a file loses nothing.
    if call.arguments.value("-s --size").is_some_and(|size| size.starts_with('+')) {
        call.draft.effects = Effects::WRITE;
    }
}

fn dd(call: &mut Call<'_, '_, '_>) {
    for field in call.arguments.operands.clone() {
        if let Some(file) = field.text.strip_prefix("of=") {
            call.aim_text(file, TargetType::File, Access::Write);
            // Written to a device, the bytes replace whatever file system was on it.
            if file.starts_with("/dev/") && file != "/dev/null" {
                call.also(Effects::DESTROY);
            }
        } else if let Some(file) = field.text.strip_prefix("if=") {
            call.aim_text(file, TargetType::File, Access::Read);
        }
    }
    if !call.draft.aims.iter().any(|aim| aim.access == Access::Write && aim.kind != TargetType::Stream) {
        call.becomes("read_file", Effects::READ);
    }
}

/// Reads `tar xzf`, `tar -czf`, `tar --list`: the letter decides.
fn tar(call: &mut Call<'_, '_, '_>) {
    let dashed = call.arguments.has("-c -x -t -r -u --create --extract --get --list --append --update");
    let old_style = call
        .arguments
        .operand(0)
        .filter(|_| !dashed)
        .filter(|first| first.len() <= 6 && first.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .unwrap_or_default()
        .to_owned();
    let has = |letter: char, call: &Call<'_, '_, '_>, long: &str| {
        old_style.contains(letter) || call.arguments.has(&format!("-{letter} {long}"))
    };
    let lists = has('t', call, "--list");
    let creates = has('c', call, "--create") || has('r', call, "--append") || has('u', call, "--update");
    let mut fields: Vec<&Field<'_>> = call.arguments.operands.clone();
    if !old_style.is_empty() {
        fields.remove(0);
    }
    let archive = call.arguments.value("-f --file").map(str::to_owned).or_else(|| {
        let takes_next = has('f', call, "--file") && !fields.is_empty();
        takes_next.then(|| fields.remove(0).text.clone().into_owned())
    });
    let directory = call.arguments.value("-C --directory").map(str::to_owned);
    let access = if creates { Access::Write } else { Access::Read };
    if let Some(archive) = archive.filter(|archive| archive != "-") {
        call.aim_text(&archive, TargetType::File, access);
    }
    if lists {
        call.becomes("list", Effects::READ);
    } else if creates {
        call.becomes("pack", Effects::WRITE);
        let removes = call.arguments.has_beginning("--remove-files");
        if removes {
            call.also(Effects::DESTROY);
            call.draft.recursive = true;
        }
        for field in fields {
            call.aim(field, TargetType::Path, if removes { Access::Delete } else { Access::Read });
        }
    } else if let Some(directory) = directory {
        call.aim_text(&directory, TargetType::Directory, Access::Write);
    }
}

/// Reads `split in prefix`, which writes files that begin with the prefix.
fn split(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    let is_prefix = call.draft.name == "split";
    for (position, field) in fields.iter().enumerate().take(2) {
        if position == 0 {
            call.aim(field, TargetType::File, Access::Read);
        } else if is_prefix {
            call.aim(field, TargetType::File, Access::Write);
        }
    }
}

fn archive(call: &mut Call<'_, '_, '_>) {
    let fields = call.arguments.operands.clone();
    let moves = match call.draft.name.as_str() {
        "zip" => call.arguments.has("-m --move"),
        _ => call.arguments.has("-s") && call.arguments.has("-d") && call.arguments.has("-e"),
    };
    let seven = matches!(call.draft.name.as_str(), "7z" | "7za" | "rar");
    let command = fields.first().filter(|_| seven).map(|field| field.text.clone().into_owned());
    let rest = fields.get(usize::from(seven)..).unwrap_or_default();
    match command.as_deref() {
        Some("l" | "t") => {
            call.becomes("list", Effects::READ);
            for field in rest.iter().take(1) {
                call.aim(field, TargetType::File, Access::Read);
            }
        }
        Some("x" | "e") => {
            call.becomes("unpack", Effects::WRITE);
            for field in rest.iter().take(1) {
                call.aim(field, TargetType::File, Access::Read);
            }
        }
        _ => {
            for (position, field) in rest.iter().enumerate() {
                let access = match position {
                    0 => Access::Write,
                    _ if moves => Access::Delete,
                    _ => Access::Read,
                };
                call.aim(field, TargetType::Path, access);
            }
            if moves {
                call.also(Effects::DESTROY);
                call.draft.recursive = true;
            }
        }
    }
}

fn first_is_read(call: &mut Call<'_, '_, '_>) {
    if let Some(field) = call.arguments.operands.first().copied() {
        call.aim(field, TargetType::File, Access::Read);
    }
}

fn compress(call: &mut Call<'_, '_, '_>) {
    if call.arguments.operands.is_empty() && call.draft.operation == "pack" {
        // A filter in a pipe.
        call.becomes("transform", Effects::READ);
    }
    let unpacks = call.draft.name.starts_with("un")
        || call.draft.name == "gunzip"
        || call.arguments.has("-d --decompress");
    if unpacks && call.draft.operation == "pack" {
        call.draft.operation = "unpack";
    }
}

/// Reads `host:path` on either side as another machine.
fn over_network(call: &mut Call<'_, '_, '_>) {
    call.draft.recursive = call.draft.effects.has(Effect::Destructive);
    if call.draft.recursive {
        // What is not among the sources goes from the target.
        for aim in call.draft.aims.iter_mut().filter(|aim| aim.access == Access::Write) {
            aim.access = Access::Delete;
        }
    }
    let is_remote = |text: &str| {
        text.starts_with("rsync://")
            || text
                .split_once(':')
                .is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && host.len() > 1)
    };
    let mut remote = call.draft.name != "rsync";
    for aim in &mut call.draft.aims {
        if is_remote(&aim.value) {
            remote = true;
            aim.kind = TargetType::Url;
            aim.access = Access::Mention;
        }
    }
    if remote {
        call.also(Effects::NETWORK);
    }
}
