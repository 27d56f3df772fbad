//! Cmdlets and their aliases. Names are compared without regard to case.

use std::sync::OnceLock;

use super::table::{Operands, Tool, asks, checks, destroys, installs, reads, runs, sends, tool, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::index::Index;
use crate::words::Field;

const PATH: &str = "-Path -LiteralPath -FilePath";
const READ: Operands = Operands::Files(Access::Read);
const VALUES: &str = "-Path -LiteralPath -FilePath -Destination -Filter -Include -Exclude -Encoding -Value -Name -NewName \
    -ItemType -Pattern -Uri -OutFile -Method -Body -Headers -First -Last -Property -Depth -ErrorAction -ArgumentList \
    -Id -ComputerName -ScriptBlock -Format -Tail -TotalCount -Head";

const CMDLETS: &[Tool] = &[
    reads("get-childitem gci dir ls", "list").operands(Operands::PathsOrHere(Access::Look)).inputs(PATH),
    reads("get-content gc cat type", "read_file").operands(READ).inputs(PATH),
    reads("select-string sls", "search").operands(Operands::PatternThenPaths("-Pattern")).inputs(PATH),
    reads("get-item gi test-path resolve-path rvpa get-itemproperty gp get-acl get-filehash", "list")
        .operands(Operands::Paths(Access::Look))
        .inputs(PATH),
    reads("get-location gl pwd get-process gps ps get-service gsv get-command gcm get-help get-date get-host get-variable \
        get-module get-alias get-history get-psdrive get-eventlog get-winevent get-ciminstance get-wmiobject get-computerinfo \
        get-netipaddress get-nettcpconnection get-disk get-volume", "inspect_process"),
    reads("where-object where ? select-object select sort-object sort group-object measure-object measure compare-object \
        format-table ft format-list fl format-wide out-string out-default convertto-json convertfrom-json convertto-csv \
        convertfrom-csv join-path split-path get-unique get-member gm tee-object out-gridview", "filter"),
    tool("foreach-object foreach %", "filter", Effects::NEUTRAL),
    tool("write-host write-output echo write-verbose write-warning write-error write-information out-null out-host", "print", Effects::NEUTRAL),
    tool("set-location sl cd chdir push-location pushd pop-location popd", "change_directory", Effects::NEUTRAL),
    tool("start-sleep sleep wait-process wait-job clear-host cls clear exit set-variable new-variable import-module \
        set-strictmode set-executionpolicy read-host", "set_option", Effects::NEUTRAL),
    destroys("remove-item ri rm rmdir del erase rd clear-content clear-item remove-itemproperty clear-recyclebin", "delete_file")
        .operands(Operands::Paths(Access::Delete))
        .reader(removed),
    destroys("stop-process spps kill remove-service stop-computer restart-computer format-volume clear-disk remove-partition", "stop_process"),
    writes("stop-service start-service restart-service set-service new-service suspend-service", "control_service"),
    writes("set-content sc add-content ac out-file new-item ni set-item set-itemproperty export-csv export-clixml", "write_file")
        .operands(Operands::Files(Access::Write))
        .outputs(PATH)
        .reader(first_only),
    writes("copy-item cpi copy cp", "copy_file").operands(Operands::SourceThenTarget(Access::Read)),
    writes("move-item mi move mv rename-item rni ren", "rename_file").operands(Operands::SourceThenTarget(Access::Delete)),
    writes("mkdir md", "create_directory").operands(Operands::Directories(Access::Write)),
    writes("expand-archive compress-archive set-acl unblock-file", "unpack").operands(Operands::Paths(Access::Write)),
    // Windows PowerShell has `curl` and `wget` as aliases of this cmdlet, with its options and not their own.
    asks("invoke-webrequest iwr curl wget invoke-restmethod irm start-bitstransfer", "fetch_url").operands(Operands::Urls).outputs("-OutFile").reader(web),
    asks("test-connection test-netconnection resolve-dnsname", "probe_network"),
    sends("send-mailmessage", "send_message"),
    tool("invoke-command icm enter-pssession new-pssession", "execute_code", Effects::REMOTE).reader(local_block),
    runs("invoke-expression iex invoke-item ii start-process saps start start-job", "execute_code").reader(invoke),
    installs("install-module install-package install-script update-module install-psresource"),
    writes("uninstall-module uninstall-package", "remove_dependency"),
    checks("invoke-pester", "run_test"),
    checks("invoke-scriptanalyzer", "run_lint"),
];

/// Returns the row of a cmdlet or alias.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    static INDEX: OnceLock<Index<&'static Tool>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let names = |tool: &'static Tool| tool.names.split_ascii_whitespace().map(move |name| (name, tool));
        rows().iter().flat_map(names).collect()
    });
    index.get(name.to_ascii_lowercase().as_str()).copied()
}

/// Returns all rows, read as cmdlets read their arguments.
fn rows() -> &'static [Tool] {
    static ROWS: OnceLock<Vec<Tool>> = OnceLock::new();
    ROWS.get_or_init(|| CMDLETS.iter().map(|tool| Tool { ..*tool }.cmdlet().values(VALUES)).collect())
}

fn removed(call: &mut super::Call<'_, '_, '_>) {
    let paths: Vec<(String, Option<Field<'_>>)> =
        call.arguments.values(PATH).map(|(value, field)| (value.to_owned(), field.cloned())).collect();
    for (value, field) in paths {
        match field {
            Some(field) => call.aim(&field, crate::model::TargetType::Path, Access::Delete),
            None => call.aim_text(&value, crate::model::TargetType::Path, Access::Delete),
        }
    }
    // `-Recurse` and its beginnings; `/s` is how `cmd` says it.
    let below = call.arguments.operands.iter().any(|field| field.text.eq_ignore_ascii_case("/s"));
    if below || call.arguments.has("-Recurse") {
        call.draft.recursive = true;
    }
}

/// Takes the first operand as the path; the one after it is the content.
fn first_only(call: &mut super::Call<'_, '_, '_>) {
    if call.arguments.operands.len() > 1 {
        call.draft.aims.truncate(1);
    }
}

fn web(call: &mut super::Call<'_, '_, '_>) {
    if let Some(uri) = call.arguments.value("-Uri").map(str::to_owned) {
        call.name(crate::model::TargetType::Url, &uri);
    }
    let method = call.arguments.value("-Method").map(str::to_ascii_uppercase);
    match method.as_deref() {
        Some("DELETE") => call.becomes("send_request", Effects::DESTROY.and(Effects::NETWORK)),
        Some("POST" | "PUT" | "PATCH") => call.becomes("send_request", Effects::WRITE.and(Effects::NETWORK)),
        _ if call.arguments.has("-OutFile") => call.becomes("download", Effects::WRITE.and(Effects::NETWORK)),
        _ => {}
    }
}

/// Drops the other machine unless a computer is named.
fn local_block(call: &mut super::Call<'_, '_, '_>) {
    if !call.arguments.has("-ComputerName -Session -HostName")
        && !call.draft.name.eq_ignore_ascii_case("enter-pssession")
    {
        call.becomes("execute_code", Effects::UNKNOWN);
    }
}

/// Reads `irm … | iex`: what was fetched is run.
fn invoke(call: &mut super::Call<'_, '_, '_>) {
    if matches!(call.input, crate::walk::Input::Stream { fetched: true }) {
        call.also(Effects::REMOTE);
    }
}
