//! Other machines: fetching, sending, probing.

use super::Call;
use super::paths::is_url;
use super::table::{Operands, Tool, asks, runs, sends, tool};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;
use crate::path::base;

const CURL_VALUES: &str = "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --json -F --form -o \
    --output -T --upload-file -u --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -m --max-time --connect-timeout \
    --retry --retry-delay -x --proxy --cacert --cert --key --resolve -w --write-out -K --config -r --range --limit-rate -D \
    --dump-header --output-dir --unix-socket --interface -z --time-cond --url -E --http-version -Y -y --oauth2-bearer --max-redirs";
const WGET_VALUES: &str = "-O --output-document -P --directory-prefix -o --output-file --header --post-data --post-file --method \
    --body-data -U --user-agent -T --timeout -t --tries -l --level -A --accept -R --reject -D --domains -i --input-file --user \
    --password -e --execute --load-cookies -w --wait -Q";

pub(super) const TOOLS: &[Tool] = &[
    tool("curl", "fetch_url", Effects::NETWORK).values(CURL_VALUES).reader(curl),
    tool("wget wget2", "fetch_url", Effects::NETWORK).values(WGET_VALUES).reader(wget),
    tool("http https xh httpie", "fetch_url", Effects::NETWORK).values("-a --auth -o --output --session --timeout --verify").reader(httpie),
    tool("aria2c axel yt-dlp youtube-dl gallery-dl", "download", Effects::NETWORK.and(Effects::WRITE)).values("-o -d -O -P -f -x -s").operands(Operands::Urls),
    tool("lynx w3m links elinks", "fetch_url", Effects::NETWORK).operands(Operands::Urls),
    asks("ping ping6 traceroute tracepath mtr dig nslookup host whois nc ncat netcat telnet nmap arping openssl-s_client", "probe_network")
        .values("-c -i -W -w -p -t -T -s -m -q -n")
        .operands(Operands::Detail),
    tool("ssh mosh", "open_session", Effects::NETWORK).values("-p -i -l -o -F -J -L -R -D -W").operands(Operands::Detail),
    tool("ssh-copy-id", "change_config", Effects::WRITE.and(Effects::NETWORK)),
    tool("ssh-keyscan", "probe_network", Effects::NETWORK),
    tool("ssh-keygen ssh-add ssh-agent gpg gpg2 age keytool certbot mkcert step", "manage_keys", Effects::WRITE).values("-f -t -b -C -N").outputs("-f").reader(keys),
    tool("openssl", "manage_keys", Effects::READ).values("-in -out -key -keyout -days -subj").one_dash().inputs("-in").outputs("-out -keyout").reader(openssl),
    runs("socat websocat wscat grpcurl", "probe_network").operands(Operands::Detail),
    sends("mail sendmail mailx mutt msmtp swaks", "send_message"),
    asks("ftp lftp", "open_session"),
];

fn url_targets(call: &mut Call<'_, '_, '_>) {
    let urls = call.arguments.values("--url").map(|(url, _)| url.to_owned()).collect::<Vec<_>>();
    for url in urls {
        call.name(TargetType::Url, &url);
    }
    for field in call.arguments.operands.clone() {
        // `curl localhost:3000/health`: curl guesses the scheme, so a word without one is an address as well.
        let kind = if is_url(&field.text) || !field.dynamic { TargetType::Url } else { TargetType::Unknown };
        call.name(kind, &field.text);
    }
}

fn curl(call: &mut Call<'_, '_, '_>) {
    url_targets(call);
    let method = call.arguments.value("-X --request").map(str::to_ascii_uppercase);
    let has_body = call
        .arguments
        .has("-d --data --data-raw --data-binary --data-urlencode --json -F --form -T --upload-file");
    // `-G` moves the data into the address, and the request stays a GET.
    let asks_only = call.arguments.has("-G --get");
    send(call, method.as_deref(), has_body && !asks_only);
    for (file, _) in call
        .arguments
        .values("-T --upload-file")
        .map(|(file, field)| (file.to_owned(), field))
        .collect::<Vec<_>>()
    {
        call.aim_text(&file, TargetType::File, Access::Read);
    }
    // It holds for `-o` as well as for `-O`, wherever it stands.
    let directory =
        call.arguments.value("--output-dir").map(|directory| format!("{directory}/")).unwrap_or_default();
    let outputs: Vec<String> =
        call.arguments.values("-o --output").map(|(file, _)| file.to_owned()).collect();
    for file in outputs {
        written(call, &format!("{directory}{file}"));
    }
    if call.arguments.has("-O --remote-name -J --remote-header-name --remote-name-all") {
        let names: Vec<String> =
            call.arguments.operands.iter().map(|field| name_of(&field.text).to_owned()).collect();
        for name in names {
            written(call, &format!("{directory}{name}"));
        }
    }
    for (file, _) in call
        .arguments
        .values("-c --cookie-jar -D --dump-header")
        .map(|(file, field)| (file.to_owned(), field))
        .collect::<Vec<_>>()
    {
        // `-D -` and `-D /dev/stdout` print the headers.
        if file != "-" && !file.starts_with("/dev/") {
            call.aim_text(&file, TargetType::File, Access::Write);
            call.also(Effects::WRITE);
        }
    }
}

fn wget(call: &mut Call<'_, '_, '_>) {
    url_targets(call);
    // It asks whether the pages are there and saves none of them.
    if call.arguments.has("--spider") {
        call.becomes("probe_network", Effects::NETWORK.and(Effects::READ));
        return;
    }
    let method = call.arguments.value("--method").map(str::to_ascii_uppercase);
    send(call, method.as_deref(), call.arguments.has("--post-data --post-file --body-data"));
    let directory = call
        .arguments
        .value("-P --directory-prefix")
        .map(|directory| format!("{directory}/"))
        .unwrap_or_default();
    match call.arguments.value("-O --output-document").map(str::to_owned) {
        Some(file) if file == "-" || file.starts_with("/dev/") => {}
        Some(file) => written(call, &file),
        None => {
            let names: Vec<String> =
                call.arguments.operands.iter().map(|field| name_of(&field.text).to_owned()).collect();
            for name in names {
                written(call, &format!("{directory}{name}"));
            }
        }
    }
}

fn httpie(call: &mut Call<'_, '_, '_>) {
    let words: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    let first = words.first().map(|word| word.to_ascii_uppercase()).unwrap_or_default();
    let is_method =
        matches!(first.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS");
    let url = words.get(usize::from(is_method)).cloned().unwrap_or_default();
    call.name(TargetType::Url, &url);
    // `a=b` is a field of the body and makes the request a POST; `a==b` is a parameter of the address.
    let has_body =
        words.iter().skip(1 + usize::from(is_method)).any(|word| word.contains('=') && !word.contains("=="));
    let method = is_method.then_some(first);
    send(call, method.as_deref(), has_body);
    if let Some(file) = call.arguments.value("-o --output").map(str::to_owned) {
        written(call, &file);
    }
}

/// Sets the operation and effects of a request by its method.
fn send(call: &mut Call<'_, '_, '_>, method: Option<&str>, has_body: bool) {
    let method = method.unwrap_or(if has_body { "POST" } else { "GET" });
    match method {
        "GET" | "HEAD" | "OPTIONS" => {}
        // Medium: the method says what is asked for, and only the server decides what it does.
        "DELETE" => {
            call.becomes("send_request", Effects::DESTROY.and(Effects::NETWORK));
            call.draft.at_most(crate::model::Confidence::Medium);
        }
        _ => {
            call.becomes("send_request", Effects::WRITE.and(Effects::NETWORK));
            call.draft.at_most(crate::model::Confidence::Medium);
        }
    }
    call.draft.detail = Some(method.to_owned());
}

fn written(call: &mut Call<'_, '_, '_>, file: &str) {
    if file.is_empty() || file == "-" || file == "/dev/null" {
        return;
    }
    call.aim_text(file, TargetType::File, Access::Write);
    call.also(Effects::WRITE);
    if call.draft.operation == "fetch_url" {
        call.draft.operation = "download";
    }
}

/// Returns the name under which an address is saved.
fn name_of(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let rest = path.split_once("://").map_or(path, |(_, rest)| rest);
    // An address without a path is saved as `index.html`, which is what wget does.
    if rest.contains('/') { base(rest) } else { "index.html" }
}

fn keys(call: &mut Call<'_, '_, '_>) {
    let looks = match call.draft.name.as_str() {
        "gpg" | "gpg2" => {
            call.arguments.has("--list-keys --list-secret-keys -k -K --verify --fingerprint --version")
        }
        // A fingerprint, a known host, the public half of a key: shown, and nothing is made.
        "ssh-keygen" => call.arguments.has("-l -F -y"),
        "ssh-add" => call.arguments.has("-l -L"),
        _ => false,
    };
    if looks {
        call.becomes("manage_keys", Effects::READ);
    }
}

fn openssl(call: &mut Call<'_, '_, '_>) {
    if call.arguments.has("-out -keyout") {
        call.also(Effects::WRITE);
    }
    if call.arguments.operand(0) == Some("s_client") {
        call.becomes("probe_network", Effects::NETWORK.and(Effects::READ));
    }
}
