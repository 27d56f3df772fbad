//! Packages of the system: apt, brew, dnf and their like.

use super::Call;
use super::table::{Operands, Tool, asks, destroys, installs, reads, runs, sends, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

// One list for all managers: a word that a manager does not have (`dup` is of zypper, `groupinstall` of dnf) ends in an
// error of its own, so it does no harm in the others' rows.
const SYSTEM: &[Tool] = &[
    installs("install reinstall add localinstall groupinstall build-dep fetch source download upgrade dist-upgrade full-upgrade distro-sync in dup"),
    sends("update refresh makecache check-update ref up self-update", "install_dependency").operands(Operands::Packages),
    writes("remove uninstall purge erase autoremove autopurge del rm", "remove_dependency").operands(Operands::Packages),
    reads("list show info search policy depends rdepends madison showpkg provides repolist history files leaves deps outdated home doctor config cat desc log changelog help se", "inspect_package")
        .operands(Operands::Detail),
    writes("clean autoclean cleanup hold unhold mark link unlink pin unpin tap untap services bundle", "maintain"),
];

pub(super) const TOOLS: &[Tool] = &[
    runs("apt apt-get aptitude dnf yum microdnf zypper apk brew port pkg snap flatpak nala tdnf emerge-webrsync", "run_command")
        .values("-o -c -t --target-release --repo --enablerepo --disablerepo --root -p")
        .subcommands(SYSTEM),
    reads("apt-cache apt-mark dpkg-query rpmquery", "inspect_package"),
    writes("apt-key add-apt-repository", "change_config"),
    runs("dpkg rpm", "inspect_package").reader(low_level),
    runs("pacman yay paru", "install_dependency").reader(pacman),
    runs("choco scoop winget", "run_command").subcommands(&[
        installs("install upgrade update add"),
        writes("uninstall remove", "remove_dependency").operands(Operands::Packages),
        reads("list search show info", "inspect_package"),
    ]),
    installs("emerge xbps-install pkg_add guix"),
    destroys("xbps-remove pkg_delete", "remove_dependency").operands(Operands::Packages),
    asks("repology pkgs", "inspect_package"),
];

fn low_level(call: &mut Call<'_, '_, '_>) {
    let (operation, effects) = if call.arguments.has("-i --install -U --upgrade -F --configure --unpack")
        && call.draft.name == "dpkg"
        || call.arguments.has("-i -U -F --install --upgrade")
            && call.draft.name == "rpm"
            && !call.arguments.has("-q --query")
    {
        ("install_dependency", Effects::WRITE)
    } else if call.draft.name == "dpkg" && call.arguments.has("-x -X -R --extract --vextract --raw-extract") {
        // Only unpacks the files into a folder: the system does not count the package as installed.
        call.becomes("extract_archive", Effects::WRITE);
        if let Some(folder) = call.arguments.operands.get(1).copied() {
            call.aim(folder, TargetType::Directory, Access::Write);
        }
        return;
    } else if call.arguments.has("-r --remove -P --purge -e --erase") {
        ("remove_dependency", Effects::WRITE)
    } else {
        ("inspect_package", Effects::READ)
    };
    call.becomes(operation, effects);
    call.draft.confidence = crate::model::Confidence::High;
    for field in call.arguments.operands.clone() {
        call.name(TargetType::Package, &field.text);
    }
}

fn pacman(call: &mut Call<'_, '_, '_>) {
    // Removing is asked for first, because letters change with what they stand beside: `-Rs` removes, `-Ss` searches.
    let (operation, effects) = if call.arguments.has("-R --remove") {
        ("remove_dependency", Effects::WRITE)
    } else if call.arguments.has("-Q --query -F --files")
        || call.arguments.has("-S --sync") && call.arguments.has("-s --search -i --info")
    {
        ("inspect_package", Effects::READ)
    } else {
        ("install_dependency", Effects::WRITE.and(Effects::NETWORK))
    };
    call.becomes(operation, effects);
    call.draft.confidence = crate::model::Confidence::High;
    for field in call.arguments.operands.clone() {
        call.name(TargetType::Package, &field.text);
    }
}
