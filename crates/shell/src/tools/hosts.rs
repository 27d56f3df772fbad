//! The hosts that a program talks to, from its arguments.
//!
//! The targets of a step name what it works on, for people; this finds everything it may connect to, for rules: the
//! proxy of `curl -x`, the server of `psql -h`, the address of `socat`. What is named by a variable is an unknown host,
//! so that no exception for known hosts covers it.

use crate::arguments::{Arguments, Style};
use crate::draft::Draft;
use crate::syntax::ast::Part;
use crate::words::Field;

/// Options of `curl` that name another host than the address does.
const CURL: &str = "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --doh-url --url --dns-servers \
    --proxy1.0 --ftp-port";
const CURL_VALUES: &str = "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --doh-url --url \
    --dns-servers --proxy1.0 --connect-to --resolve -K --config -X --request -H --header -d --data --data-raw \
    --data-binary --data-urlencode --json -F --form -o --output -T --upload-file -u --user -A --user-agent -e --referer -b \
    --cookie -c --cookie-jar -m --max-time --connect-timeout --retry -w --write-out -r --range -D --dump-header \
    --output-dir --unix-socket --interface -z -E --cert --cacert --key --retry-delay --limit-rate --max-redirs";

/// Programs that are given hosts as operands, with their options that take a value.
const OPERANDS: &[(&str, &str)] = &[
    (
        "nc ncat netcat telnet",
        "-w -p -s -i -X -x -q -T -I -O -P -g -G --proxy --proxy-type -e --exec -c --sh-exec",
    ),
    (
        "ping ping6 traceroute tracepath mtr arping whois",
        "-c -i -W -w -p -t -T -s -m -q -n -I -M -Q -l -S -f -h",
    ),
    ("dig nslookup host drill", "-p -t -c -b -f -k -q -x -y"),
    ("nmap masscan", "-p -e -S -D -T -oN -oX -oG -oA -iL -iR --script --exclude --rate --top-ports"),
    (
        "ftp lftp tftp sftp ssh mosh ssh-copy-id ssh-keyscan",
        "-p -i -l -o -F -J -L -R -D -W -b -c -E -e -I -m -O -Q -S -w -P -u -B",
    ),
    ("websocat wscat grpcurl xdg-open open lynx w3m links elinks", "-c -H -d -o"),
    ("aria2c axel yt-dlp", "-o -d -O -P -f -x -s -i"),
    ("http https xh httpie", "-a --auth -o --output --session --timeout --verify"),
    ("ldapsearch smbclient rclone irssi", "-b -D -w -U -c"),
];

/// Options that name a host or an address, by program.
const OPTIONS: &[(&str, &str)] = &[
    ("psql pg_dump pg_dumpall pg_restore createdb dropdb pgcli pg_isready", "-h --host"),
    ("mysql mariadb mysqldump mysqladmin mycli", "-h --host"),
    ("redis-cli valkey-cli", "-h -u"),
    ("mongosh mongo mongodump mongorestore", "--host --uri"),
    ("clickhouse-client clickhouse", "-h --host"),
    ("sqlcmd", "-S"),
    ("ldapsearch ldapadd ldapmodify", "-H -h"),
    ("irssi", "-c"),
    (
        "pip pip3 uv pipx poetry",
        "-i --index-url --extra-index-url --index --default-index --find-links -f --proxy",
    ),
    ("npm pnpm yarn bun npx", "--registry --proxy --https-proxy"),
    ("cargo", "--git --index --registry"),
    ("wget wget2", "--proxy"),
    ("docker podman nerdctl", "-H --host"),
    ("kubectl oc helm", "-s --server --repo"),
    ("gh", "--hostname"),
    ("gpg gpg2", "--keyserver"),
    ("logger", "-n --server"),
    ("nc ncat netcat", "-x --proxy"),
    ("ssh scp sftp rsync", "-J"),
];

/// Programs that only pass text on: an address in it is no connection.
const TEXT: &[&str] =
    &["print", "search", "transform", "filter", "commit", "read_file", "list", "test", "compute", "nothing"];

/// Adds the hosts that a call names.
pub(crate) fn find(name: &str, rest: &[Field<'_>], draft: &mut Draft) {
    match name {
        "curl" => curl(rest, draft),
        "wget" | "wget2" => wget(rest, draft),
        "git" => git(rest, draft),
        "socat" => socat(rest, draft),
        "openssl" => openssl(rest, draft),
        "scp" | "rsync" | "mount" | "sshfs" => copies(rest, draft),
        "ssh" | "mosh" | "sftp" => forwards(rest, draft),
        "docker" | "podman" | "nerdctl" => images(rest, draft),
        "go" => modules(rest, draft),
        "getent" => {
            if let Some([first, host]) = rest.get(..2)
                && first.text.contains("hosts")
            {
                add(host, draft);
            }
        }
        "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" => {
            for field in rest.iter().filter(|field| field.text.contains('@')) {
                add(field, draft);
            }
        }
        _ => {}
    }
    if let Some((_, values)) = OPERANDS.iter().find(|(names, _)| names.split(' ').any(|it| it == name)) {
        let arguments = Arguments::read(rest, values, Style::Gnu);
        let all = matches!(
            name,
            "ssh-keyscan"
                | "dig"
                | "lynx"
                | "w3m"
                | "aria2c"
                | "axel"
                | "http"
                | "https"
                | "xh"
                | "nmap"
                | "masscan"
        );
        let most = if all { arguments.operands.len() } else { 1 };
        for field in arguments.operands.iter().take(most) {
            let text = &*field.text;
            // `dig @server name TYPE`, `http GET address`: words without a dot are no hosts there.
            if all && !text.contains(['.', ':', '$', '@']) {
                continue;
            }
            add(field, draft);
        }
    }
    for (_, options) in OPTIONS.iter().filter(|(names, _)| names.split(' ').any(|it| it == name)) {
        let arguments = Arguments::read(rest, options, Style::Gnu);
        for (value, field) in arguments.values(options) {
            let dynamic = field.map_or_else(|| value.contains(['$', '`']), |field| field.dynamic);
            draft.host((!dynamic).then(|| host_of_option(value)));
        }
    }
    if !TEXT.contains(&draft.operation) && !matches!(name, "curl" | "wget" | "git") {
        for field in rest {
            // `--index=https://…`, `Acquire::http::Proxy=http://…`.
            let value =
                field.text.split_once('=').map(|(_, value)| value).filter(|_| !has_scheme(&field.text));
            let text = value.unwrap_or(&field.text);
            let text = text.strip_prefix("git+").unwrap_or(text);
            if has_scheme(text) {
                draft.host((!field.dynamic).then(|| text.to_owned()));
            } else if let Some(host) = field.text.strip_prefix("host=") {
                draft.host(
                    (!field.dynamic).then(|| host.split_whitespace().next().unwrap_or_default().to_owned()),
                );
            }
        }
    }
}

fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && scheme.len() >= 2
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

fn add(field: &Field<'_>, draft: &mut Draft) {
    let text = field.text.trim_start_matches('@');
    let dynamic = field.dynamic && !text.contains("://") || text.contains("://$") || text.contains("://`");
    draft.host((!dynamic).then(|| bare(text)));
}

/// Reads `user@host:path` and `host:port` as an address.
fn bare(text: &str) -> String {
    if has_scheme(text) {
        return text.to_owned();
    }
    let text = text.trim_start_matches('/');
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    // Brackets or several colons are an IPv6 address, which the split at a port would cut.
    if host.starts_with('[') || host.matches(':').count() > 1 {
        return host.to_owned();
    }
    host.split([':', '/']).next().unwrap_or_default().to_owned()
}

fn host_of_option(value: &str) -> String {
    bare(value.trim_start_matches("tcp:").trim_start_matches('@'))
}

fn curl(rest: &[Field<'_>], draft: &mut Draft) {
    let arguments = Arguments::read(rest, CURL_VALUES, Style::Gnu);
    for (value, field) in arguments.values(CURL) {
        let dynamic = field.is_some_and(|field| field.dynamic);
        draft.host((!dynamic).then(|| bare(value)));
    }
    // `HOST1:PORT1:HOST2:PORT2` and `HOST:PORT:ADDRESS`.
    for (value, _) in arguments.values("--connect-to") {
        draft.host(value.split(':').nth(2).filter(|host| !host.is_empty()).map(str::to_owned));
    }
    for (value, _) in arguments.values("--resolve") {
        let addresses = value.splitn(3, ':').nth(2).unwrap_or_default();
        for address in addresses.split(',') {
            draft.host(Some(address.to_owned()).filter(|address| !address.is_empty()));
        }
    }
    // A file of options can name anything.
    if arguments.has("-K --config") {
        draft.host(None);
    }
    for field in &arguments.operands {
        // `{a,b}` in an address are several addresses to curl itself.
        if let Some((before, inside)) = field.text.split_once('{')
            && let Some((names, after)) = inside.split_once('}')
        {
            for choice in names.split(',') {
                draft.host(Some(format!("{before}{choice}{after}")));
            }
        }
        if field.dynamic && (host_is_dynamic(&field.text) || may_be_several(field)) {
            draft.host(None);
        }
    }
}

/// Returns `true` if a word contains a variable or the output of a command without quotes. The shell splits such a
/// value, so the word may become several, and any of them may be an address or an option.
fn may_be_several(field: &Field<'_>) -> bool {
    let splits = |part: &Part| match part {
        Part::Parameter(parameter) => !parameter.quoted,
        Part::Command(command) => !command.quoted,
        Part::Backtick(_) => true,
        _ => false,
    };
    field.alternatives.is_empty() && field.word.is_some_and(|word| word.parts.as_slice().iter().any(splits))
}

/// Returns `true` if a variable is part of the host, and not only of the path behind it.
fn host_is_dynamic(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.contains(['$', '`']) || text.starts_with(['$', '`'])
}

fn wget(rest: &[Field<'_>], draft: &mut Draft) {
    let arguments = Arguments::read(rest, "-i --input-file -e --execute -O -P -o --header", Style::Gnu);
    if arguments.has("-i --input-file") {
        draft.host(None);
    }
    for (value, _) in arguments.values("-e --execute") {
        if let Some((_, proxy)) = value.split_once("proxy=") {
            draft.host(Some(bare(proxy.trim())));
        }
    }
    if arguments
        .operands
        .iter()
        .any(|field| field.dynamic && (host_is_dynamic(&field.text) || may_be_several(field)))
    {
        draft.host(None);
    }
}

/// Addresses among the arguments of the commands that talk to another repository.
fn git(rest: &[Field<'_>], draft: &mut Draft) {
    let words: Vec<&Field<'_>> = rest.iter().filter(|field| !field.is_option()).collect();
    for field in
        rest.iter().filter(|field| field.text.starts_with("--remote=") || field.text.starts_with("--repo="))
    {
        let address = field.text.split_once('=').map(|(_, address)| address).unwrap_or_default();
        if has_scheme(address) {
            draft.host(Some(address.to_owned()));
        }
    }
    let Some(at) = words.iter().position(|field| {
        matches!(
            &*field.text,
            "clone" | "push" | "fetch" | "pull" | "ls-remote" | "remote" | "submodule" | "archive"
        )
    }) else {
        return;
    };
    for field in words.get(at + 1..).unwrap_or_default() {
        let text = &*field.text;
        // `git push origin a:b` has a colon too: only what looks like a host before it is one.
        let scp = text.split_once(':').is_some_and(|(host, path)| {
            !host.contains('/')
                && !path.is_empty()
                && (host.contains('@') || host.contains('.'))
                && !text.starts_with('+')
        });
        if text.starts_with("ext::") {
            draft.host(None);
        } else if has_scheme(text) || scp {
            add(field, draft);
        }
    }
}

/// Reads `TCP:host:port`, `OPENSSL:host:port,…`; what listens or is a file names no host.
fn socat(rest: &[Field<'_>], draft: &mut Draft) {
    for field in rest.iter().filter(|field| !field.is_option()) {
        let mut parts = field.text.split(':');
        let kind = parts.next().unwrap_or_default().to_ascii_uppercase();
        let connects = ["TCP", "UDP", "OPENSSL", "SSL", "SOCKS", "PROXY", "SCTP", "DTLS"]
            .iter()
            .any(|it| kind.starts_with(it));
        if connects && !kind.contains("LISTEN") {
            let host = parts.next().unwrap_or_default();
            draft.host((!field.dynamic && !host.is_empty()).then(|| host.to_owned()));
        }
    }
}

fn openssl(rest: &[Field<'_>], draft: &mut Draft) {
    for (option, value) in rest.iter().zip(rest.iter().skip(1)) {
        if matches!(&*option.text, "-connect" | "-host" | "-proxy") {
            add(value, draft);
        }
    }
}

/// Hosts behind the one that is named: `-o HostName=…`, `-L port:host:port`.
fn forwards(rest: &[Field<'_>], draft: &mut Draft) {
    for (position, field) in rest.iter().enumerate() {
        if let Some((_, host)) =
            field.text.split_once("HostName=").or_else(|| field.text.split_once("HostName "))
        {
            draft.host(Some(host.to_owned()));
        }
        let value = match &*field.text {
            "-L" | "-R" | "-W" => rest.get(position + 1).map(|next| &*next.text),
            text => ["-L", "-R", "-W"].into_iter().find_map(|option| text.strip_prefix(option)),
        };
        if let Some(value) = value {
            let parts: Vec<&str> = value.split(':').collect();
            // Counted from the end, because an address to listen on may stand in front: `-L 0.0.0.0:80:host:80`.
            let host = parts.len().checked_sub(2).and_then(|at| parts.get(at));
            draft.host(host.map(|host| (*host).to_owned()));
        }
    }
}

/// Reads `host:path` on either side.
fn copies(rest: &[Field<'_>], draft: &mut Draft) {
    for field in rest.iter().filter(|field| !field.is_option()) {
        let text = &*field.text;
        let remote = text.split_once(':').is_some_and(|(host, _)| !host.contains('/') && host.len() > 1);
        if remote || has_scheme(text) {
            add(field, draft);
        }
    }
}

/// Reads the registry of an image: what stands before the first slash, if it looks like a host.
fn images(rest: &[Field<'_>], draft: &mut Draft) {
    let acts = rest.iter().any(|field| matches!(&*field.text, "pull" | "push" | "run" | "login" | "create"));
    if !acts {
        return;
    }
    for field in rest.iter().filter(|field| !field.is_option() && !field.text.contains('=')) {
        if let Some((host, _)) = field.text.split_once('/')
            && host.contains('.')
            && !host.starts_with('.')
        {
            draft.host(Some(bare(host)));
        }
    }
}

/// Reads `go get host/path`.
fn modules(rest: &[Field<'_>], draft: &mut Draft) {
    if !rest.first().is_some_and(|field| matches!(&*field.text, "get" | "install")) {
        return;
    }
    for field in rest.iter().skip(1).filter(|field| !field.is_option()) {
        let host = field.text.split(['/', '@']).next().unwrap_or_default();
        if host.contains('.') && !host.starts_with('.') {
            draft.host(Some(host.to_owned()));
        }
    }
}
