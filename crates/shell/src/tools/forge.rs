//! Code hosts: gh, glab, hub.

use super::Call;
use super::table::{Operands, Tool, asks, runs, sends, tool, writes};
use crate::effect::Effects;

const LOSES: Effects = Effects::DESTROY.and(Effects::NETWORK);
const VALUES: &str = "-R --repo -t --title -b --body -F --body-file -l --label -a --assignee -m --milestone -B --base -H --head \
    -L --limit -q --jq --json -s --state -S --search --template -r --reviewer -p --project -n --notes --tag -X --method -f \
    --field --raw-field --input -w --workflow --ref --branch -e --env --hostname --job -d -c";

pub(super) const TOOLS: &[Tool] = &[
    runs("gh glab hub tea", "run_command").values("-R --repo").subcommands(&[
        asks("status search browse", "inspect_forge").values(VALUES).operands(Operands::Detail),
        runs("auth", "inspect_config").reader(auth),
        runs("api", "inspect_forge").values(VALUES).reader(api),
        runs("pr mr issue release run repo workflow gist label secret variable cache project ruleset codespace org team milestone ci pipeline job schedule snippet", "inspect_forge")
            .values(VALUES)
            .subcommands(ACTIONS),
        writes("alias config completion extension gpg-key ssh-key", "change_config"),
        runs("copilot", "run_command"),
    ]),
];

const ACTIONS: &[Tool] = &[
    asks("list ls view status diff checks watch show get trace log logs lint ports", "inspect_forge").operands(Operands::Detail),
    sends("create new edit comment review merge close reopen ready lock unlock pin unpin transfer develop approve note update set enable disable rerun retry cancel run trigger upload rename archive unarchive fork sync add-item item-add field-create link copy", "change_forge")
        .operands(Operands::Detail),
    sends("checkout clone download", "fetch_repo").operands(Operands::Detail),
    tool("delete rm remove delete-asset item-delete revoke", "delete_resource", LOSES).operands(Operands::Detail),
];

fn auth(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("status" | "token") => call.becomes("inspect_config", Effects::READ),
        _ => call.becomes("change_config", Effects::WRITE.and(Effects::NETWORK)),
    }
}

/// Reads `api`, which only asks without a method or fields.
fn api(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    let method = call.arguments.value("-X --method").map(str::to_ascii_uppercase);
    let has_fields = call.arguments.has("-f -F --field --raw-field --input");
    // GraphQL always posts; only a mutation changes something.
    let graphql = call.arguments.operand(0) == Some("graphql");
    let mutates =
        call.arguments.values("-f -F --field --raw-field").any(|(field, _)| field.contains("mutation"));
    match method.as_deref() {
        Some("DELETE") => call.becomes("delete_resource", LOSES),
        Some("GET" | "HEAD") => call.becomes("inspect_forge", Effects::READ.and(Effects::NETWORK)),
        None if graphql && !mutates => call.becomes("inspect_forge", Effects::READ.and(Effects::NETWORK)),
        None if !has_fields => call.becomes("inspect_forge", Effects::READ.and(Effects::NETWORK)),
        _ => call.becomes("change_forge", Effects::WRITE.and(Effects::NETWORK)),
    }
    call.draft.confidence = crate::model::Confidence::High;
}
