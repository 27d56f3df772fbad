//! Cloud providers. Their commands name the verb: that is read, whatever the service is called.

use super::Call;
use super::paths::is_url;
use super::table::{Tool, runs, sends, tool};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::{Confidence, TargetType};

const ASKS: Effects = Effects::READ.and(Effects::NETWORK);
const SENDS: Effects = Effects::WRITE.and(Effects::NETWORK);
const LOSES: Effects = Effects::DESTROY.and(Effects::NETWORK);
const VALUES: &str = "--profile --region --output --query --endpoint-url --project --zone --format --filter --account \
    --configuration --subscription -g --resource-group -n --name -o --location --limit --cli-input-json --parameters -q \
    --function-name --bucket --key --stack-name --cluster --app -a -e --env --log-group-name --payload --body --policy \
    --exclude --include --acl --sse --storage-class";

pub(super) const TOOLS: &[Tool] = &[
    runs("aws", "call_cloud").values(VALUES).reader(aws),
    runs("gcloud az oci ibmcloud doctl linode-cli hcloud scw civo exo vultr-cli", "call_cloud")
        .values(VALUES)
        .reader(by_verb),
    runs("gsutil azcopy rclone s3cmd mc s5cmd b2", "copy_file").values("-m -o -h --config").reader(objects),
    runs(
        "heroku fly flyctl vercel netlify railway render wrangler firebase supabase amplify surge now eb",
        "call_cloud",
    )
    .values(VALUES)
    .reader(platform),
    tool("bq", "query_database", ASKS).reader(bq),
    sends("eksctl kops gke", "call_cloud").reader(by_verb),
    sends("sentry-cli datadog-ci codecov", "publish"),
    runs("stripe twilio ngrok cloudflared localtunnel lt tailscale", "call_cloud"),
];

/// Returns the effects of a verb, known by its first word, as in `delete-bucket`.
fn verb(word: &str) -> Option<Effects> {
    let lower = word.to_ascii_lowercase();
    // A dash ends the verb, so that only whole words count: `get-object`, but not `getter`.
    let starts =
        |known: &[&str]| known.iter().any(|start| lower == *start || lower.starts_with(&format!("{start}-")));
    if starts(&[
        "describe",
        "list",
        "get",
        "show",
        "ls",
        "head",
        "view",
        "search",
        "read",
        "tail",
        "wait",
        "lookup",
        "filter",
        "query",
        "scan",
        "batch-get",
        "estimate",
        "validate",
        "test",
        "check",
        "info",
        "status",
        "whoami",
        "print",
        "logs",
        "history",
        "versions",
        "inspect",
        "download",
        "simulate",
    ]) {
        return Some(ASKS);
    }
    if starts(&[
        "delete",
        "remove",
        "rm",
        "rb",
        "terminate",
        "destroy",
        "purge",
        "deregister",
        "revoke",
        "detach",
        "disassociate",
        "deprovision",
        "reset",
        "cancel",
        "prune",
        "empty",
    ]) {
        return Some(LOSES);
    }
    if starts(&[
        "create",
        "put",
        "update",
        "set",
        "add",
        "apply",
        "deploy",
        "start",
        "stop",
        "reboot",
        "restart",
        "run",
        "invoke",
        "attach",
        "associate",
        "tag",
        "untag",
        "modify",
        "register",
        "enable",
        "disable",
        "import",
        "export",
        "copy",
        "cp",
        "mv",
        "sync",
        "publish",
        "send",
        "upload",
        "mb",
        "scale",
        "resize",
        "restore",
        "promote",
        "rollback",
        "login",
        "logout",
        "configure",
        "use",
        "activate",
        "submit",
        "execute",
        "link",
        "push",
        "new",
        "init",
        "secrets",
        "assume-role",
        "config",
    ]) {
        return Some(SENDS);
    }
    None
}

fn apply(call: &mut Call<'_, '_, '_>, effects: Effects) {
    let operation = match effects {
        ASKS => "inspect_cloud",
        LOSES => "delete_resource",
        _ => "change_cloud",
    };
    call.becomes(operation, effects);
    call.draft.confidence = Confidence::High;
}

fn aws(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    let (Some(service), Some(action)) = (words.first(), words.get(1)) else {
        return;
    };
    call.draft.subcommand = Some(format!("{service} {action}"));
    call.draft.detail = Some(format!("{service} {action}"));
    if service == "s3" {
        let paths: Vec<&str> = words.iter().skip(2).map(String::as_str).collect();
        storage(call, action, &paths);
        return;
    }
    if service == "configure" {
        let effects = if matches!(action.as_str(), "list" | "get") { Effects::READ } else { Effects::WRITE };
        call.becomes("change_config", effects);
        return;
    }
    if let Some(effects) = verb(action) {
        apply(call, effects);
    } else {
        call.also(Effects::NETWORK);
    }
}

fn by_verb(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    call.draft.subcommand = words.first().cloned();
    call.draft.detail = Some(words.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(" "));
    if matches!(words.first().map(String::as_str), Some("config" | "info" | "version")) {
        let sets = words
            .iter()
            .any(|word| matches!(word.as_str(), "set" | "unset" | "create" | "delete" | "activate"));
        call.becomes(
            if sets { "change_config" } else { "inspect_config" },
            if sets { Effects::WRITE } else { Effects::READ },
        );
        return;
    }
    // The first word names a service, even where it reads like a verb: `gcloud run deploy`. So it is asked last.
    match words.iter().skip(1).chain(words.first()).find_map(|word| verb(word)) {
        Some(effects) => apply(call, effects),
        None => call.also(Effects::NETWORK),
    }
}

fn objects(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    let Some((action, paths)) = words.split_first() else { return };
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    call.draft.subcommand = Some(action.clone());
    storage(call, action, &paths);
}

/// Reads object stores: the last path is written unless something is taken away.
fn storage(call: &mut Call<'_, '_, '_>, action: &str, paths: &[&str]) {
    let effects = match action {
        "ls" | "lsd" | "lsl" | "lsf" | "du" | "size" | "cat" | "stat" | "presign" | "tree" | "check" => ASKS,
        // Moving takes the object away from where it was.
        "rm" | "rb" | "delete" | "purge" | "mv" | "move" | "rmdir" => LOSES,
        // `aws s3 sync --delete` and `gsutil rsync -d` delete what the source does not have.
        _ if call.arguments.has("--delete -d") => LOSES.and(Effects::WRITE),
        _ => SENDS,
    };
    apply(call, effects);
    if effects.has(crate::effect::Effect::Destructive) {
        call.draft.operation = "delete_resource";
    }
    let last = paths.len().saturating_sub(1);
    for (position, path) in paths.iter().enumerate() {
        if is_url(path) {
            call.name(TargetType::Url, path);
        } else if matches!(action, "cp" | "sync" | "mv" | "copy" | "move") {
            let access = if position == last && position > 0 { Access::Write } else { Access::Read };
            call.aim_text(path, TargetType::Path, access);
        }
    }
}

fn platform(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    call.draft.subcommand = words.first().cloned();
    call.draft.detail = Some(words.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" "));
    match words.first().map(String::as_str) {
        Some("dev" | "serve" | "emulators:start" | "start" | "functions:shell") => {
            call.becomes("start_server", Effects::UNKNOWN);
        }
        Some("build") => call.becomes("run_build", Effects::CHECK),
        Some("deploy" | "up" | "launch" | "publish" | "release") => apply(call, SENDS),
        // `vercel` alone deploys.
        None if matches!(call.draft.name.as_str(), "vercel" | "now" | "surge") => apply(call, SENDS),
        // From the end: the verb stands behind its topic (`heroku apps:destroy`).
        _ => match words.iter().rev().find_map(|word| verb(word.rsplit(':').next().unwrap_or(word))) {
            Some(effects) => apply(call, effects),
            None => call.also(Effects::NETWORK),
        },
    }
}

fn bq(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("rm") => apply(call, LOSES),
        Some("load" | "mk" | "cp" | "update" | "insert") => apply(call, SENDS),
        Some("query") => {
            let sql = call.arguments.operand(1).unwrap_or_default();
            let effects = super::sql::effects(sql).and(Effects::NETWORK);
            call.becomes("query_database", effects);
        }
        _ => {}
    }
}
