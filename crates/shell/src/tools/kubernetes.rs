//! Clusters and infrastructure as code: kubectl, helm, terraform.

use super::Call;
use super::table::{Operands, Tool, adds, asks, checks, reads, runs, sends, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

const LOSES: Effects = Effects::DESTROY.and(Effects::NETWORK);
const KUBECTL_VALUES: &str = "-n --namespace --context --kubeconfig --cluster --user -o --output -l --selector -f --filename \
    -k --kustomize -c --container --field-selector --sort-by --tail --since -p --patch --type --replicas --image --timeout --for";

pub(super) const TOOLS: &[Tool] = &[
    runs("kubectl oc k", "run_command").values(KUBECTL_VALUES).subcommands(KUBECTL),
    runs("helm", "run_command")
        .values("-n --namespace --kube-context -f --values --set --version --repo --timeout")
        .subcommands(HELM),
    asks("k9s kubectx kubens stern kubetail", "inspect_cluster"),
    runs("kustomize", "inspect_cluster").subcommands(&[
        reads("build cfg version", "inspect_cluster").operands(Operands::Paths(Access::Read)),
        writes("edit create", "edit_in_place"),
    ]),
    sends("argocd flux", "deploy").subcommands(&[
        asks("get list version check logs stats", "inspect_cluster"),
        sends("sync reconcile create bootstrap resume suspend login", "deploy"),
        tool("delete uninstall", "delete_resource", LOSES),
        asks("app repo cluster proj", "inspect_cluster").reader(argo),
    ]),
    runs("terraform tofu terragrunt", "run_command").directory("-chdir").subcommands(TERRAFORM),
    runs("pulumi", "run_command").values("-s --stack -C --cwd").directory("-C --cwd").subcommands(&[
        asks("preview stack config whoami about logs", "inspect_infrastructure"),
        sends("up update refresh import", "deploy"),
        tool("destroy", "delete_resource", LOSES),
        writes("new login logout", "change_config"),
    ]),
    runs("packer vault consul nomad", "run_command").subcommands(&[
        checks("validate fmt inspect build", "verify"),
        asks("status read list get members version plan", "inspect_infrastructure"),
        sends("write put run apply login kv", "deploy"),
        tool("delete destroy stop", "delete_resource", LOSES),
    ]),
    runs("cdk sam serverless sls sst cdktf", "deploy").subcommands(&[
        asks("diff list ls synth logs info validate doctor", "inspect_infrastructure"),
        sends("deploy bootstrap import sync", "deploy"),
        tool("destroy delete remove", "delete_resource", LOSES),
        checks("build package", "run_build"),
        writes("init", "create_project"),
    ]),
    sends("cloudformation", "deploy"),
];

const KUBECTL: &[Tool] = &[
    // The cluster is asked and nothing more: that is reading, wherever it runs.
    reads("get describe logs top explain version cluster-info api-resources api-versions events auth diff", "inspect_cluster").reader(resource),
    reads("config", "inspect_config").reader(config),
    sends("apply create replace patch edit set label annotate expose autoscale scale rollout taint cordon uncordon run debug", "deploy")
        .inputs("-f --filename")
        .reader(deploy),
    // `drain` takes every pod away from a node, so it stands beside `delete`.
    tool("delete drain", "delete_resource", LOSES).inputs("-f --filename").reader(resource),
    runs("exec attach", "open_session").operands(Operands::Detail),
    runs("port-forward proxy", "open_session").operands(Operands::Detail),
    sends("cp", "copy_file").reader(copies),
    reads("kustomize", "inspect_cluster").operands(Operands::Paths(Access::Read)),
    checks("wait", "wait"),
    reads("plugin completion options help", "inspect_version"),
];

const HELM: &[Tool] = &[
    reads("list ls get status history show template version env inspect", "inspect_cluster")
        .operands(Operands::Detail),
    asks("search", "inspect_package").operands(Operands::Detail),
    checks("lint test", "run_lint").operands(Operands::Paths(Access::Read)),
    sends("install upgrade rollback", "deploy").operands(Operands::Detail),
    tool("uninstall delete del un", "delete_resource", LOSES).operands(Operands::Detail),
    sends("repo plugin registry", "change_config").operands(Operands::Detail),
    sends("dependency dep pull fetch", "install_dependency"),
    checks("package", "run_build"),
    tool("push", "publish", Effects::NETWORK),
    writes("create", "create_project").operands(Operands::Directories(Access::Write)),
];

const TERRAFORM: &[Tool] = &[
    // A saved plan is a file that `apply` carries out without asking again.
    asks("plan", "inspect_infrastructure")
        .one_dash()
        .values("-var -var-file -target -out -parallelism")
        .outputs("-out")
        .cases(&[adds("-out", Effects::WRITE)]),
    reads("show output graph providers version console", "inspect_infrastructure").one_dash(),
    checks("validate test", "verify").one_dash(),
    tool("fmt hclfmt", "run_lint", Effects::CHECK.and(Effects::WRITE)).one_dash().cases(&[turns(
        "-check",
        "run_lint",
        Effects::CHECK,
    )]),
    // `terraform apply -destroy` is what `terraform destroy` is short for.
    sends("apply import refresh", "deploy")
        .one_dash()
        .values("-var -var-file -target -parallelism")
        .cases(&[turns("-destroy", "delete_resource", LOSES)]),
    tool("destroy", "delete_resource", LOSES).one_dash().values("-var -var-file -target"),
    tool("init get", "install_dependency", Effects::WRITE.and(Effects::NETWORK))
        .one_dash()
        .values("-backend-config"),
    tool("state", "inspect_infrastructure", Effects::READ).one_dash().reader(state),
    writes("taint untaint", "deploy").one_dash(),
    tool("workspace", "inspect_infrastructure", Effects::READ).one_dash().reader(workspace),
    tool("force-unlock", "delete_resource", LOSES).one_dash(),
    sends("login logout", "change_config").one_dash(),
];

fn resource(call: &mut Call<'_, '_, '_>) {
    let words: Vec<&str> = call.arguments.operands.iter().map(|field| &*field.text).collect();
    call.draft.detail = (!words.is_empty()).then(|| words.join(" "));
}

fn config(call: &mut Call<'_, '_, '_>) {
    if matches!(
        call.arguments.operand(0),
        Some(
            "set-context"
                | "use-context"
                | "set"
                | "set-cluster"
                | "set-credentials"
                | "unset"
                | "rename-context"
                | "delete-context"
        )
    ) {
        call.becomes("change_config", Effects::WRITE);
    }
}

/// Reads `kubectl cp pod:a b`: what has no pod in front of it is a file of this machine.
fn copies(call: &mut Call<'_, '_, '_>) {
    if let [source, target] = call.arguments.operands.clone().as_slice() {
        for (field, access) in [(source, Access::Read), (target, Access::Write)] {
            if !field.text.contains(':') {
                call.aim(field, TargetType::Path, access);
            }
        }
    }
}

fn deploy(call: &mut Call<'_, '_, '_>) {
    resource(call);
    if call.draft.subcommand.as_deref() == Some("rollout")
        && matches!(call.arguments.operand(0), Some("status" | "history"))
    {
        call.becomes("inspect_cluster", Effects::READ);
    }
    // Forced, `replace` deletes the object and makes it anew.
    if call.arguments.has("--force") && call.draft.subcommand.as_deref() == Some("replace") {
        call.also(Effects::DESTROY);
    }
    if let Some(directory) = call.arguments.value("-k --kustomize").map(str::to_owned) {
        call.aim_text(&directory, TargetType::Directory, Access::Read);
    }
}

fn argo(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("sync" | "create" | "set" | "add" | "rollback") => {
            call.becomes("deploy", Effects::WRITE.and(Effects::NETWORK))
        }
        Some("delete" | "rm") => call.becomes("delete_resource", LOSES),
        _ => {}
    }
}

fn state(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        // The one makes terraform forget a resource, the other writes over all that it remembers.
        Some("rm" | "push") => call.becomes("delete_resource", LOSES),
        Some("mv" | "replace-provider") => call.becomes("deploy", Effects::WRITE),
        _ => {}
    }
}

fn workspace(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("new" | "select") => call.becomes("change_config", Effects::WRITE),
        Some("delete") => call.becomes("delete_resource", LOSES),
        _ => {}
    }
}
