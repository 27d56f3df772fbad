//! The machine: processes, services, users, time.

use super::Call;
use super::table::{Operands, Tool, adds, asks, destroys, reads, runs, tool, turns, writes};
use crate::draft::Access;
use crate::effect::Effects;

pub(super) const TOOLS: &[Tool] = &[
    reads("ps pgrep pstree top htop btop pidof lsof fuser uptime free vmstat iostat sar w who whoami id groups last uname hostname hostnamectl arch nproc lscpu lsmem lsusb lspci lsmod dmesg sw_vers system_profiler getconf getent ulimit tty logname users finger", "inspect_process")
        .operands(Operands::Detail)
        .reader(process),
    reads("date cal ncal timedatectl hwclock", "inspect_time").cases(&[adds("-s --set", Effects::WRITE)]),
    reads("ss netstat ifconfig ip route arp iwconfig resolvectl networkctl", "inspect_network").reader(ip),
    // `-0` sends no signal, it asks whether the process is there.
    destroys("kill killall pkill skill xkill", "stop_process").values("-s --signal -u -n").cases(&[
        turns("-l --list -0", "inspect_process", Effects::READ),
    ]).operands(Operands::Detail),
    destroys("reboot shutdown halt poweroff init telinit", "stop_machine"),
    runs("systemctl service rc-service launchctl supervisorctl sv initctl", "control_service")
        .values("-n -u --user-unit -p --property -t --type --state -o")
        .subcommands(SERVICE)
        .reader(service_name),
    // `--vacuum-…` deletes archived journals, and a log cannot be made again.
    reads("journalctl log", "read_log").values("-u --unit -n --lines --since --until -p -t -o -g").cases(&[
        adds("--vacuum-size --vacuum-time --vacuum-files --rotate", Effects::DESTROY),
    ]).reader(journal),
    writes("logger", "write_log"),
    writes("script", "write_log").values("-c -E -I -O -B -T -m -o").operands(Operands::Files(Access::Write)),
    // `crontab -r` removes the whole table of a user, and does not ask without `-i`.
    writes("crontab at batch", "change_config").cases(&[
        turns("-l", "inspect_config", Effects::READ),
        turns("-r", "change_config", Effects::DESTROY),
    ]),
    destroys("userdel groupdel deluser delgroup", "change_user").operands(Operands::Detail),
    writes("useradd adduser usermod groupadd addgroup groupmod passwd chpasswd chsh chfn visudo gpasswd", "change_user").operands(Operands::Detail),
    writes("mount umount swapon swapoff losetup cryptsetup lvcreate lvextend lvremove vgcreate pvcreate resize2fs", "change_system").reader(mount),
    writes("sysctl modprobe insmod rmmod update-alternatives update-grub ldconfig depmod localectl locale-gen tzselect dpkg-reconfigure setenforce setsebool restorecon semanage", "change_system").reader(sysctl),
    // Rules live in the kernel: what a flush drops is gone unless it was saved before.
    writes("iptables ip6tables nft ufw firewall-cmd", "change_system").cases(&[
        turns("-L --list -S --list-rules --list-all", "inspect_network", Effects::READ),
        adds("-F --flush -X", Effects::DESTROY),
    ]).reader(firewall),
    runs("tmux screen zellij", "control_session").reader(sessions),
    writes("defaults plutil scutil dscl diskutil hdiutil", "change_system").reader(mac),
    tool("say notify-send terminal-notifier beep", "notify", Effects::NEUTRAL),
    reads("claude codex agent-tracer", "inspect_version").reader(agents),
    asks("speedtest", "probe_network"),
    writes("direnv", "change_config").cases(&[turns("--version", "inspect_version", Effects::READ)]).reader(direnv),
    tool("asdf", "inspect_version", Effects::READ).reader(asdf),
    writes("stow chezmoi yadm", "link_file"),
    tool("watchman", "inspect_process", Effects::READ),
];

const SERVICE: &[Tool] = &[
    reads("status show list-units list-unit-files is-active is-enabled is-failed cat list-timers list list-sockets list-dependencies print tail avail", "inspect_service").operands(Operands::Detail),
    writes("start restart reload enable try-restart reload-or-restart unmask daemon-reload set-default load bootstrap kickstart reread update add import-environment", "control_service").operands(Operands::Detail),
    writes("stop disable mask kill unload bootout remove", "stop_service").operands(Operands::Detail),
    destroys("reboot poweroff halt suspend hibernate rescue emergency isolate", "stop_machine"),
];

/// Reads `lsof -i` and `ps aux`, which are about processes; `fuser -k` ends them.
fn process(call: &mut Call<'_, '_, '_>) {
    if call.draft.name == "fuser" && call.arguments.has("-k --kill") {
        call.becomes("stop_process", Effects::DESTROY);
    }
    if call.draft.name == "hostname" && !call.arguments.operands.is_empty() {
        call.becomes("change_system", Effects::WRITE);
    }
    if call.draft.name == "hostnamectl" && call.arguments.operands.len() > 1 {
        call.becomes("change_system", Effects::WRITE);
    }
}

fn ip(call: &mut Call<'_, '_, '_>) {
    // The verb stands behind an object (`ip addr add`) or a name (`ifconfig eth0 up`): all words are looked at.
    let changes = call.arguments.operands.iter().any(|field| {
        matches!(&*field.text, "add" | "del" | "delete" | "set" | "flush" | "up" | "down" | "replace")
    });
    if changes && matches!(call.draft.name.as_str(), "ip" | "ifconfig" | "route" | "arp") {
        call.becomes("change_system", Effects::WRITE);
    }
}

/// Reads `service nginx restart`: the verb comes second.
fn service_name(call: &mut Call<'_, '_, '_>) {
    if call.draft.name != "service" {
        return;
    }
    call.draft.subcommand = call.arguments.operand(1).map(str::to_owned);
    call.draft.detail = call.arguments.operand(0).map(str::to_owned);
    match call.arguments.operand(1) {
        Some("status") => call.becomes("inspect_service", Effects::READ),
        Some("stop") => call.becomes("stop_service", Effects::WRITE),
        Some(_) => call.becomes("control_service", Effects::WRITE),
        None => call.becomes("inspect_service", Effects::READ),
    }
    call.draft.confidence = crate::model::Confidence::High;
}

fn journal(call: &mut Call<'_, '_, '_>) {
    call.draft.detail = call.arguments.value("-u --unit").map(str::to_owned);
}

fn mount(call: &mut Call<'_, '_, '_>) {
    if call.draft.name == "mount" && call.arguments.operands.is_empty() {
        call.becomes("inspect_usage", Effects::READ);
    }
    // `pvcreate` takes a device for itself: what was on it is lost, though the command is named after what it makes.
    if call.draft.name == "lvremove" || call.draft.name == "pvcreate" {
        call.also(Effects::DESTROY);
    }
}

fn sysctl(call: &mut Call<'_, '_, '_>) {
    let sets = call.arguments.has("-w --write -p --load --system")
        || call.arguments.operands.iter().any(|field| field.text.contains('='));
    if call.draft.name == "sysctl" && !sets {
        call.becomes("inspect_config", Effects::READ);
    }
}

fn firewall(call: &mut Call<'_, '_, '_>) {
    if matches!(call.arguments.operand(0), Some("status" | "list" | "show")) {
        call.becomes("inspect_network", Effects::READ);
    }
}

fn sessions(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some(
            "ls" | "list-sessions" | "list-windows" | "list-panes" | "capture-pane" | "has-session"
            | "capturep" | "display-message",
        ) => {
            call.becomes("inspect_process", Effects::READ);
        }
        Some("kill-session" | "kill-server" | "kill-window" | "kill-pane") => {
            call.becomes("stop_process", Effects::DESTROY)
        }
        _ if call.arguments.has("-ls") => call.becomes("inspect_process", Effects::READ),
        _ => {}
    }
}

fn mac(call: &mut Call<'_, '_, '_>) {
    if matches!(
        call.arguments.operand(0),
        Some("read" | "find" | "domains" | "list" | "info" | "--dns" | "lint")
    ) {
        call.becomes("inspect_config", Effects::READ);
    } else if matches!(call.arguments.operand(0), Some("eraseDisk" | "eraseVolume" | "delete")) {
        call.also(Effects::DESTROY);
    }
}

fn agents(call: &mut Call<'_, '_, '_>) {
    // With a prompt an agent works, and the prompt does not say what it will run.
    if !call.arguments.operands.is_empty() || call.arguments.has("-p --print") {
        call.becomes("run_command", Effects::UNKNOWN);
        call.draft.at_most(crate::model::Confidence::Medium);
    }
}

fn direnv(call: &mut Call<'_, '_, '_>) {
    if matches!(call.arguments.operand(0), Some("status" | "hook" | "export" | "version")) {
        call.becomes("inspect_environment", Effects::READ);
    }
}

fn asdf(call: &mut Call<'_, '_, '_>) {
    match call.arguments.operand(0) {
        Some("install" | "plugin" | "plugin-add" | "update") => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK))
        }
        Some("global" | "local" | "set" | "reshim") => call.becomes("change_config", Effects::WRITE),
        _ => {}
    }
}
