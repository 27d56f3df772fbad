//! Programs that run the program named in their arguments.

use std::sync::OnceLock;

use crate::arguments::is_listed;
use crate::effect::Effects;
use crate::index::Index;
use crate::words::Field;

/// A wrapper that was taken off a command.
pub(super) struct Unwrapped {
    pub(super) label: &'static str,
    /// The number of fields that belong to the wrapper itself.
    pub(super) skip: usize,
    pub(super) effects: Effects,
    pub(super) elsewhere: bool,
    /// More arguments come from standard input.
    pub(super) more_input: bool,
    /// Options that say where the command starts.
    pub(super) directory: &'static str,
    /// Options that name a file which the wrapper itself writes.
    pub(super) output: &'static str,
}

/// The start of the wrapped command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// After this many operands.
    After(usize),
    /// After `--`, which may be left out where there is nothing between.
    Dashes,
    /// After this option, which may come after operands.
    Option(&'static str),
    /// After this option, which comes before any operand.
    FirstOption(&'static str),
}

/// A wrapper: its words, the options of it that take a value, and where the command begins.
struct Wrapper {
    words: &'static str,
    values: &'static str,
    begins: Begins,
    effects: Effects,
    elsewhere: bool,
}

const fn plain(words: &'static str, values: &'static str) -> Wrapper {
    Wrapper { words, values, begins: Begins::After(0), effects: Effects::NONE, elsewhere: false }
}

const fn after(words: &'static str, values: &'static str, operands: usize) -> Wrapper {
    Wrapper { begins: Begins::After(operands), ..plain(words, values) }
}

const fn dashes(words: &'static str, values: &'static str) -> Wrapper {
    Wrapper { begins: Begins::Dashes, ..plain(words, values) }
}

const fn option(words: &'static str, values: &'static str, option: &'static str) -> Wrapper {
    Wrapper { begins: Begins::Option(option), ..plain(words, values) }
}

/// Marks a wrapper whose command runs inside a container or on another machine: paths there are not paths here.
const fn away(wrapper: Wrapper, effects: Effects) -> Wrapper {
    Wrapper { elsewhere: true, effects, ..wrapper }
}

const DOCKER_RUN: &str = "-e --env --env-file -v --volume -w --workdir -u --user -p --publish --name --network --net \
    --mount --entrypoint -h --hostname -l --label --platform --cpus -m --memory --gpus --add-host --link --restart \
    --tmpfs --ulimit --shm-size --device --pull --ip --dns --cap-add --cap-drop --security-opt --log-driver --pid --ipc \
    --userns -a --attach --cidfile --expose --group-add --health-cmd --init-path --isolation --runtime --stop-signal";
const DOCKER_EXEC: &str = "-e --env --env-file -u --user -w --workdir --detach-keys --index";
const DOCKER_TOP: &str = "-H --host -c --context --config -l --log-level";
const COMPOSE_TOP: &str = "-f --file -p --project-name --profile --env-file --project-directory";
const KUBECTL: &str =
    "-n --namespace -c --container --context --kubeconfig -f --filename --cluster --user -l --image";
const UV: &str = "--with --with-requirements --with-editable -p --python --extra --group --only-group --project --directory \
    --env-file --package --index --index-url --default-index -f --find-links --refresh-package --isolated-from";

const WRAPPERS: &[Wrapper] = &[
    plain(
        "sudo",
        "-u -g -h -p -C -T -U -D -R -r -t --user --group --host --prompt --chdir --chroot --close-from --role --type",
    ),
    plain("doas", "-u -C"),
    plain("pkexec", "--user"),
    plain("env", "-u --unset -C --chdir"),
    after("timeout", "-k --kill-after -s --signal", 1),
    after("gtimeout", "-k --kill-after -s --signal", 1),
    plain("nice", "-n --adjustment"),
    plain("ionice", "-c -n -p --class --classdata"),
    plain("nohup", ""),
    plain("setsid", ""),
    plain("stdbuf", "-i -o -e --input --output --error"),
    plain("time", "-f -o --format --output"),
    plain("command", ""),
    plain("builtin", ""),
    plain("exec", "-a"),
    plain("noglob", ""),
    plain("nocorrect", ""),
    plain(
        "xargs",
        "-I -n -P -L -d -E -s -a -R -J --max-args --max-procs --max-lines --delimiter --arg-file --replace --max-chars --eof",
    ),
    plain(
        "parallel",
        "-j --jobs -N -n -L -I -a --arg-file --colsep -d --delimiter --joblog --results --timeout --delay",
    ),
    plain("strace", "-o -e -p -s -E -u -a -b -O -S -I -P -X"),
    plain("ltrace", "-o -e -p -s -u -a -x -l"),
    plain("valgrind", ""),
    plain("catchsegv", ""),
    plain("heaptrack", "-o"),
    option("gdb", "", "--args"),
    plain("perf stat", "-e -p -r -o"),
    plain("perf record", "-e -p -F -o -g --call-graph"),
    plain("rr record", ""),
    plain("samply record", "-o -r --rate"),
    plain("caffeinate", "-t -w"),
    plain("unbuffer", ""),
    plain("chronic", ""),
    plain("fakeroot", "-l -s -i -b"),
    plain("taskset", "-c --cpu-list -p"),
    after("chrt", "-T -P -D", 1),
    plain("numactl", "-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave"),
    plain(
        "systemd-run",
        "-p --property --unit -u -M --uid --gid --slice --setenv -E --description --working-directory",
    ),
    plain("ssh-agent", "-a -t -O -P"),
    after("ip netns exec", "-n -netns", 1),
    plain("unshare", ""),
    plain("nsenter", "-t --target"),
    plain("firejail", ""),
    plain("dbus-run-session", "--config-file"),
    plain("xvfb-run", "-n -s -e -f -p -w --server-num --server-args --error-file"),
    plain("proxychains", "-f"),
    plain("proxychains4", "-f"),
    plain("torsocks", ""),
    plain("rlwrap", ""),
    plain("winpty", ""),
    plain("tini", ""),
    plain("dumb-init", ""),
    after("gosu", "", 1),
    after("su-exec", "", 1),
    after("chroot", "--userspec --groups", 1),
    after("flock", "-w --timeout -E --conflict-exit-code", 1),
    after("script", "-c -E -I -O -B -T -m -o -t", 1),
    // The loader runs the program that it is given: `ld-linux-x86-64.so.2 /bin/rm -rf x` deletes.
    plain("ld-linux-x86-64.so.2", "--library-path --argv0 --preload"),
    plain("ld-linux-aarch64.so.1", "--library-path --argv0 --preload"),
    plain("busybox", ""),
    plain("toybox", ""),
    // Two rows for one wrapper: `-m` names a module only before the program; behind it, it belongs to the program.
    Wrapper { begins: Begins::FirstOption("-m --module"), ..plain("uv run", UV) },
    plain("uv run", UV),
    plain("uv tool run", "--from --with -p --python"),
    plain("uvx", "--from --with -p --python"),
    plain("poetry run", "-C --directory -P --project"),
    plain("pipenv run", ""),
    plain("pdm run", "-p --project"),
    plain("hatch run", "-e --env"),
    plain("rye run", ""),
    plain("pipx run", "--spec --python"),
    plain("conda run", "-n -p --name --prefix --cwd"),
    plain("mamba run", "-n -p --name --prefix --cwd"),
    plain("micromamba run", "-n -p --name --prefix"),
    plain("pixi run", "-e --environment --manifest-path"),
    plain("bundle exec", ""),
    plain("npx", "-p --package -w --workspace"),
    plain("pnpx", "--package"),
    plain("bunx", "-p --package"),
    plain("bun x", "-p --package"),
    plain("npm exec", "-p --package -w --workspace --prefix"),
    plain("npm x", "-p --package -w --workspace --prefix"),
    plain("pnpm exec", "-C --dir --filter -F"),
    plain("pnpm dlx", "--package"),
    plain("yarn exec", "--cwd"),
    plain("yarn dlx", "-p --package"),
    after("rustup run", "", 1),
    plain("asdf exec", ""),
    dashes("mise exec", "-C --cd -c"),
    dashes("mise x", "-C --cd -c"),
    dashes("rtx exec", ""),
    after("direnv exec", "", 1),
    dashes("op run", "--env-file"),
    dashes("doppler run", "-p -c --project --config"),
    dashes("infisical run", "--env --path"),
    dashes("dotenvx run", "-f -e --env-file"),
    dashes("dotenv", "-e -f -c"),
    dashes("aws-vault exec", "-d --duration"),
    dashes("lerna exec", "--scope --ignore"),
    dashes("devbox run", "-c --config"),
    option("nix develop", "", "-c --command"),
    option("nix shell", "", "-c --command"),
    plain("coverage run", "--source --omit --include --rcfile -p"),
    plain("ddtrace-run", ""),
    plain("opentelemetry-instrument", ""),
    plain("watchexec", "-e -w -i -f -d --exts --watch --ignore --filter --debounce"),
    away(after("docker exec", DOCKER_EXEC, 1), Effects::NONE),
    away(after("docker container exec", DOCKER_EXEC, 1), Effects::NONE),
    away(after("docker run", DOCKER_RUN, 1), Effects::NONE),
    away(after("docker container run", DOCKER_RUN, 1), Effects::NONE),
    away(after("docker compose exec", DOCKER_EXEC, 1), Effects::NONE),
    away(after("docker compose run", DOCKER_RUN, 1), Effects::NONE),
    away(after("docker-compose exec", DOCKER_EXEC, 1), Effects::NONE),
    away(after("docker-compose run", DOCKER_RUN, 1), Effects::NONE),
    away(after("podman exec", DOCKER_EXEC, 1), Effects::NONE),
    away(after("podman run", DOCKER_RUN, 1), Effects::NONE),
    away(after("nerdctl exec", DOCKER_EXEC, 1), Effects::NONE),
    away(after("nerdctl run", DOCKER_RUN, 1), Effects::NONE),
    away(dashes("kubectl exec", KUBECTL), Effects::NETWORK),
    away(dashes("oc exec", KUBECTL), Effects::NETWORK),
    away(dashes("kubectl run", KUBECTL), Effects::NETWORK.and(Effects::WRITE)),
    away(plain("heroku run", "-a --app -s --size -r --remote"), Effects::REMOTE),
];

fn table() -> &'static Index<Vec<&'static Wrapper>> {
    static TABLE: OnceLock<Index<Vec<&'static Wrapper>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: Index<Vec<&Wrapper>> = Index::default();
        for wrapper in WRAPPERS {
            let first = wrapper.words.split(' ').next().unwrap_or_default();
            table.entry(first).or_default().push(wrapper);
        }
        table
    })
}

/// Finds the command inside a wrapper. Nothing if the program is no wrapper, or wraps nothing here.
pub(super) fn unwrap(name: &str, fields: &[Field<'_>]) -> Option<Unwrapped> {
    if super::code::is_python(name) {
        return python_module(fields);
    }
    table().get(name)?.iter().find_map(|wrapper| wrapper.find(name, fields))
}

/// Reads `python -m pytest`, which runs the module as a program.
fn python_module(fields: &[Field<'_>]) -> Option<Unwrapped> {
    let mut at = 1;
    loop {
        let field = fields.get(at)?;
        match &*field.text {
            "-m" => break,
            "-W" | "-X" => at += 2,
            "-c" => return None,
            _ if field.is_option() => at += 1,
            _ => return None,
        }
    }
    fields.get(at + 1)?;
    Some(Unwrapped {
        label: "python -m",
        skip: at + 1,
        effects: Effects::NONE,
        elsewhere: false,
        more_input: false,
        directory: "",
        output: "",
    })
}

impl Wrapper {
    fn find(&self, name: &str, fields: &[Field<'_>]) -> Option<Unwrapped> {
        let mut words = self.words.split(' ').skip(1).peekable();
        let mut operands = 0;
        let mut at = 1;
        while let Some(field) = fields.get(at) {
            let text = &*field.text;
            if text == "--" && words.peek().is_none() {
                at += 1;
                // `kubectl exec pod -- cmd`: the operand stands before the dashes.
                return self.found(at, fields);
            }
            if field.is_option() {
                if let Begins::Option(option) | Begins::FirstOption(option) = self.begins
                    && words.peek().is_none()
                    && is_listed(option, text)
                {
                    return self.found(at + 1, fields);
                }
                if !self.may_pass(name, text) {
                    return None;
                }
                at += if self.takes_value(text, words.peek().is_some()) { 2 } else { 1 };
                continue;
            }
            if let Some(&word) = words.peek() {
                if word != text {
                    return None;
                }
                words.next();
                at += 1;
                continue;
            }
            // Variables for the command stand before it: `env A=1 make`, `sudo A=1 make`.
            if name == "env" || name == "sudo" || name == "doas" {
                let is_assignment = text.split_once('=').is_some_and(|(variable, _)| is_name(variable));
                if is_assignment {
                    at += 1;
                    continue;
                }
            }
            match self.begins {
                Begins::After(count) if operands < count => {
                    operands += 1;
                    at += 1;
                }
                Begins::After(_) => return self.found(at, fields),
                Begins::Dashes | Begins::Option(_) => at += 1,
                Begins::FirstOption(_) => return None,
            }
        }
        None
    }

    fn takes_value(&self, text: &str, before_words: bool) -> bool {
        if is_listed(self.values, text) {
            return true;
        }
        // Options of the program itself stand before its subcommand.
        before_words
            && (is_listed(DOCKER_TOP, text)
                || is_listed(COMPOSE_TOP, text)
                || is_listed(KUBECTL, text)
                || text == "-C")
    }

    /// Returns `false` for options that make the wrapper something else.
    fn may_pass(&self, name: &str, option: &str) -> bool {
        match name {
            "command" => !matches!(option, "-v" | "-V" | "-pv" | "-pV"),
            // These hold a script instead of a command; `script_form` has read it.
            "npx" | "npm" => !matches!(option, "-c" | "--call"),
            "sudo" => !matches!(option, "-l" | "--list" | "-v" | "-k" | "-K" | "-e" | "--edit"),
            "uv" => !matches!(option, "-m" | "--module"),
            _ => true,
        }
    }

    fn found(&self, skip: usize, fields: &[Field<'_>]) -> Option<Unwrapped> {
        fields.get(skip)?;
        Some(Unwrapped {
            label: self.label(fields.get(..skip).unwrap_or_default()),
            skip,
            effects: self.effects,
            elsewhere: self.elsewhere,
            more_input: matches!(self.words, "xargs" | "parallel"),
            directory: match self.words {
                "env" => "-C --chdir",
                "sudo" => "-D --chdir",
                "systemd-run" => "--working-directory",
                "uv run" => "--directory",
                "poetry run" => "-C --directory",
                "pnpm exec" => "-C --dir",
                "yarn exec" => "--cwd",
                "conda run" | "mamba run" => "--cwd",
                "mise exec" | "mise x" => "-C --cd",
                _ => "",
            },
            output: match self.words {
                "time" | "perf stat" | "perf record" => "-o --output",
                "strace" | "ltrace" | "heaptrack" => "-o",
                "samply record" => "-o --output",
                "parallel" => "--joblog --results",
                _ => "",
            },
        })
    }

    /// Returns the label of the wrapper. `time -o` is a label of its own, because it writes a file.
    fn label(&self, own: &[Field<'_>]) -> &'static str {
        let writes =
            own.iter().any(|field| field.text.starts_with("-o") || field.text.starts_with("--output"));
        match self.words {
            "time" if writes => "time -o",
            words => words,
        }
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
