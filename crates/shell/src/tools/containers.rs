//! Containers: docker, podman, compose.

use super::Call;
use super::table::{Operands, Tool, adds, asks, checks, destroys, reads, runs, sends, tool, writes};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

const DOCKER_VALUES: &str = "-H --host -c --context --config -l --log-level";
const COMPOSE_VALUES: &str = "-f --file -p --project-name --profile --env-file --project-directory";

pub(super) const TOOLS: &[Tool] = &[
    runs("docker podman nerdctl", "run_command").values(DOCKER_VALUES).subcommands(DOCKER),
    runs("docker-compose podman-compose", "run_command")
        .values(COMPOSE_VALUES)
        .inputs("-f --file")
        .subcommands(COMPOSE),
    checks("buildah kaniko img", "run_build"),
    sends("skopeo crane oras", "publish").subcommands(&[
        asks("inspect list-tags ls manifest digest config", "inspect_container"),
        sends("copy cp push pull sync", "publish"),
        destroys("delete", "delete_container"),
    ]),
    asks("dive ctop lazydocker", "inspect_container"),
    runs("lima limactl colima multipass vagrant minikube kind k3d", "manage_machine").subcommands(MACHINES),
];

const DOCKER: &[Tool] = &[
    reads("ps images logs inspect top stats port diff history version info events search", "inspect_container")
        .values("-n --tail --since --until -f --filter --format")
        .operands(Operands::Detail),
    checks("build buildx", "run_build")
        .values("-t --tag -f --file --build-arg --target --platform --cache-from --cache-to -o --output --secret --progress --label --network")
        .inputs("-f --file")
        .cases(&[adds("--push", Effects::NETWORK)])
        .reader(build),
    // A command behind the image is unwrapped before (`walk::wrappers`). What comes here runs what the image says, and
    // the command line does not show that.
    runs("run create", "start_container").reader(run),
    runs("exec attach", "open_session").operands(Operands::Detail),
    writes("start stop restart pause unpause rename update wait", "control_container").operands(Operands::Detail),
    writes("kill", "stop_container").operands(Operands::Detail),
    // What a container wrote goes with it, except into volumes; stopping or killing it keeps the files.
    destroys("rm rmi", "delete_container").operands(Operands::Detail),
    sends("pull load import", "fetch_image").operands(Operands::Detail),
    tool("push", "publish", Effects::NETWORK).operands(Operands::Detail),
    sends("login logout", "change_config"),
    writes("tag commit save export cp", "write_file").values("-o --output").outputs("-o --output").reader(copy),
    runs("system", "inspect_container").subcommands(&[
        reads("df info events", "inspect_container"),
        destroys("prune", "delete_container"),
    ]),
    runs("image", "inspect_container").subcommands(&[
        reads("ls list inspect history", "inspect_container"),
        checks("build", "run_build"),
        destroys("rm remove prune", "delete_container").operands(Operands::Detail),
        sends("pull load import", "fetch_image").operands(Operands::Detail),
        tool("push", "publish", Effects::NETWORK),
        writes("tag save", "write_file"),
    ]),
    runs("container volume network context manifest secret config node service stack swarm plugin builder", "manage_container").subcommands(&[
        reads("ls list inspect logs top stats port diff ps show use", "inspect_container"),
        writes("create start stop restart connect disconnect update deploy init join scale pause unpause rename", "control_container"),
        destroys("rm remove prune kill delete down leave", "delete_container").operands(Operands::Detail),
    ]),
    runs("compose", "run_command").values(COMPOSE_VALUES).inputs("-f --file").subcommands(COMPOSE),
];

const COMPOSE: &[Tool] = &[
    reads("ps logs config top images port events ls version convert stats", "inspect_container")
        .values("--tail --since --until -n")
        .operands(Operands::Detail),
    writes("up start restart create scale unpause pause watch", "start_container")
        .values("--scale -t --timeout")
        .operands(Operands::Detail),
    checks("build", "run_build").operands(Operands::Detail),
    writes("stop kill", "stop_container").operands(Operands::Detail),
    // Containers and networks come back with the next `up`; the data in volumes does not.
    writes("down", "stop_container")
        .values("-t --timeout --rmi")
        .cases(&[adds("-v --volumes --rmi", Effects::DESTROY)]),
    destroys("rm", "delete_container").operands(Operands::Detail),
    sends("pull", "fetch_image").operands(Operands::Detail),
    tool("push", "publish", Effects::NETWORK),
    runs("exec run attach", "open_session").operands(Operands::Detail),
    writes("cp", "copy_file"),
];

const MACHINES: &[Tool] = &[
    reads("list ls status info version get ip logs profile", "inspect_container"),
    writes("start up stop halt create restart resume suspend provision reload", "manage_machine"),
    destroys("delete destroy rm purge", "delete_container"),
    tool("ssh shell exec", "open_session", Effects::UNKNOWN),
    writes("load", "fetch_image"),
];

fn build(call: &mut Call<'_, '_, '_>) {
    if let Some(tag) = call.arguments.value("-t --tag").map(str::to_owned) {
        call.draft.detail = Some(tag);
    }
    let buildx = call.draft.subcommand.as_deref() == Some("buildx");
    let fields = call.arguments.operands.clone();
    if buildx {
        match fields.first().map(|field| &*field.text) {
            Some("ls" | "inspect" | "du" | "version") => call.becomes("inspect_container", Effects::READ),
            Some("prune" | "rm") => call.becomes("delete_container", Effects::DESTROY),
            Some("create" | "use") => call.becomes("change_config", Effects::WRITE),
            _ => {}
        }
    }
    if let Some(context) = fields.get(usize::from(buildx))
        && call.draft.operation == "run_build"
    {
        call.aim(context, TargetType::Directory, Access::Read);
    }
}

/// Reads a run: without a command the image decides.
fn run(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
}

fn copy(call: &mut Call<'_, '_, '_>) {
    if call.draft.subcommand.as_deref() != Some("cp") {
        return;
    }
    call.draft.operation = "copy_file";
    let fields = call.arguments.operands.clone();
    for (position, field) in fields.iter().enumerate() {
        // One letter before the colon is a drive (`C:\x`), not a container.
        let inside = field.text.split_once(':').is_some_and(|(name, _)| name.len() > 1);
        if !inside {
            call.aim(field, TargetType::Path, if position == 0 { Access::Read } else { Access::Write });
        }
    }
}
