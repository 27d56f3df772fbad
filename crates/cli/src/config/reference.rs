//! `docs/config.md` is made from the registry of settings, and this test holds it to that.

use std::fmt::Write as _;

use super::{SETTINGS, TABLES};

const HEAD: &str = "\
# Settings

Generated from the registry in `crates/cli/src/config/registry.rs` by a test; do not edit.

Your settings are in one file, `config.toml` in the configuration folder (`~/.config/agent-tracer/`, or
`$AGENT_TRACER_HOME`); `agent-tracer config path` prints where. Nothing in it is required, and a project cannot change it.

```toml
[retention]
days = 90               # for ever without it

[alerts]
desktop = true

[alerts.on]
waiting_minutes = 5
```

```sh
agent-tracer config list                     # every setting, its source and value
agent-tracer config get retention.days
agent-tracer config set retention.days 90    # keeps comments and order
agent-tracer config unset retention.days
```

A running server reads the file when it needs it, so a change takes effect without a restart; `prices` and `ship` count from
the next start. A mistake names its line, its key and the word that was probably meant. The part whose table has it does
nothing until it is corrected (with `prices`, the server does not start); an unknown table or invalid TOML concerns all
parts. `agent-tracer doctor` reports it. `config set` writes nothing that would
not be understood, and makes the file yours alone (0600).

Four files stay beside it ([ADR 21](adr/0021-one-settings-file.md)): `privacy.conf` ([privacy.md](privacy.md)) and
`statusline.conf` ([install.md](install.md)), which every hook reads, `policy.toml` ([policy.md](policy.md)), which holds
rules, and `ship.token` ([team.md](team.md)), which is a secret.

## Older files

Earlier versions had a file for each table. Such a file is read where `config.toml` does not have its table, and ignored
where it does; `doctor` names both. `agent-tracer config migrate` moves them, comments included. `config set` and commands
such as `backup on` take over the file of the table that they change.
";

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn page() -> String {
    let mut text = format!("{HEAD}\n| file | table |\n|---|---|\n");
    for table in TABLES {
        writeln!(text, "| `{}` | `[{}]` |", table.old_file.name, table.name).expect("text can be written");
    }
    for table in TABLES {
        write!(
            text,
            "\n## `[{}]`\n\n| key | type | default | unit | meaning |\n|---|---|---|---|---|\n",
            table.name
        )
        .expect("text can be written");
        for it in SETTINGS.iter().filter(|it| it.table() == table.name) {
            let default = if it.default.is_empty() { String::new() } else { format!("`{}`", it.default) };
            let kind = it.kind.to_string();
            let cells = [&format!("`{}`", it.key), &kind, &default, it.unit, it.meaning].map(cell);
            writeln!(text, "| {} |", cells.join(" | ").replace("|  |", "| |")).expect("text can be written");
        }
    }
    text
}

#[test]
fn the_page_of_settings_is_what_the_registry_holds() {
    agent_tracer_house::assert_file("docs/config.md", &page());
}
