//! Bodies that are small when compressed and large in memory.

use agent_tracer_agents::extent::{Bounds, measure};
use agent_tracer_agents::otlp::protobuf::{put_bytes, put_number};

/// A body, and where it is posted.
pub(crate) struct Body {
    pub(crate) name: String,
    pub(crate) path: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plain: Vec<u8>,
    /// The most memory that it may take.
    pub(crate) most: usize,
}

/// Parts that are repeated: small values, containers, keys and texts.
const UNITS: &[&str] = &[
    "0",
    "{}",
    "[0]",
    "[[[[[[[[0]]]]]]]]",
    "{\"a\":0}",
    "{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4}",
    "{\"content\":\"a\",\"status\":\"pending\",\"activeForm\":\"b\"}",
];

/// The bytes of repeated texts: near the limit of drafts, and beyond what is read of a command. Longer ones take
/// long to read without optimisation.
const SIZES: &[usize] = &[120_000, 300_000];

/// The allowance for such a text: what does not grow with it, as the steps of the longest command that is read, and four
/// copies. With those a body of the longest text is within what any may cost.
const TEXT_COST: usize = (38 << 20) + 4 * 300_000;

/// The repetitions of a part so that it is just within what the server builds of a body.
fn near_bounds(unit: &str, bounds: Bounds) -> usize {
    let one = measure(unit.as_bytes());
    let by_values = (bounds.values - 200) / one.values;
    by_values.min((bounds.containers - 200) / one.containers.max(1))
}

fn repeated(unit: &str, bytes: usize) -> String {
    times(unit, bytes / (unit.len() + 1))
}

fn times(unit: &str, count: usize) -> String {
    let count = count.max(1);
    format!("{}{unit}", format!("{unit},").repeat(count - 1))
}

fn members(bytes: usize) -> String {
    let mut text = String::from("\"a\":0");
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        // The same names again and again, so that it packs; the last value of each counts.
        text.push_str(&format!(",\"m{}\":0", number % 1000));
    }
    text
}

/// A frame of JSON: `@` stands where the repeated parts go.
const FRAMES: &[(&str, &str)] = &[
    ("/ingest/v1/events", "{\"events\":[@]}"),
    (
        "/ingest/v1/events",
        "{\"events\":[{\"kind\":\"user.message\",\"runtimeSource\":\"claude_code\",\"runtimeSessionId\":\"s\",\
         \"title\":\"t\",\"metadata\":{\"list\":[@]}}]}",
    ),
    (
        "/ingest/v1/events",
        "{\"events\":[{\"kind\":\"tool.used\",\"runtimeSource\":\"claude_code\",\"runtimeSessionId\":\"s\",\
         \"title\":\"t\",\"metadata\":{\"toolName\":\"X\",\"toolInput\":{\"list\":[@]}},\"filePaths\":[@]}]}",
    ),
    (
        "/ingest/v1/sessions/ensure",
        "{\"runtimeSource\":\"claude_code\",\"runtimeSessionId\":\"s\",\"x\":[@]}",
    ),
    ("/ingest/v1/sessions/end", "{\"runtimeSource\":\"claude_code\",\"runtimeSessionId\":\"s\",\"x\":[@]}"),
    (
        "/hooks/claude",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Other\",\"tool_use_id\":\"t\",\
         \"tool_input\":{\"list\":[@]}}",
    ),
    (
        "/hooks/claude",
        "{\"hook_event_name\":\"PostToolUse\",\"session_id\":\"s\",\"tool_name\":\"TodoWrite\",\"tool_use_id\":\"t\",\
         \"tool_input\":{\"todos\":[@]},\"tool_response\":{\"newTodos\":[@]}}",
    ),
    (
        "/hooks/claude",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"AskUserQuestion\",\
         \"tool_use_id\":\"t\",\"tool_input\":{\"questions\":[@]}}",
    ),
    (
        "/hooks/claude",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"MultiEdit\",\"tool_use_id\":\"t\",\
         \"tool_input\":{\"file_path\":\"/a\",\"edits\":[@]}}",
    ),
    ("/hooks/claude", "{\"hook_event_name\":\"Unknown\",\"session_id\":\"s\",\"x\":[@]}"),
    (
        "/hooks/codex",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"turn_id\":\"u\",\"tool_name\":\"update_plan\",\
         \"tool_use_id\":\"t\",\"tool_input\":{\"plan\":[@]}}",
    ),
    ("/v1/logs", "{\"resourceLogs\":[@]}"),
    ("/v1/logs", "{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[@]}]}]}"),
    (
        "/v1/logs",
        "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\
         \"claude-code\"}}]},\"scopeLogs\":[{\"logRecords\":[{\"body\":{\"stringValue\":\"claude_code.x\"},\
         \"attributes\":[@]}]}]}]}",
    ),
    ("/v1/traces", "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[@]}]}]}"),
    ("/v1/metrics", "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":[@]}]}]}"),
    ("/api/v1/policies/backtest", "{\"policy\":\"\",\"x\":[@]}"),
];

/// Frames in which one long text stands.
const TEXTS: &[(&str, &str)] = &[
    (
        "/ingest/v1/events",
        "{\"events\":[{\"kind\":\"user.message\",\"runtimeSource\":\"claude_code\",\"runtimeSessionId\":\"s\",\
         \"title\":\"t\",\"body\":\"@\"}]}",
    ),
    (
        "/hooks/claude",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\",\
         \"tool_input\":{\"command\":\"@\"}}",
    ),
    ("/hooks/claude", "{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"prompt\":\"@\"}"),
    (
        "/hooks/codex",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"turn_id\":\"u\",\"tool_name\":\"apply_patch\",\
         \"tool_use_id\":\"t\",\"tool_input\":{\"command\":\"@\"}}",
    ),
    (
        "/v1/logs",
        "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\
         \"codex_exec\"}}]},\"scopeLogs\":[{\"logRecords\":[{\"attributes\":[{\"key\":\"event.name\",\"value\":\
         {\"stringValue\":\"codex.tool_result\"}},{\"key\":\"arguments\",\"value\":{\"stringValue\":\"@\"}}]}]}]}]}",
    ),
    ("/api/v1/policies/backtest", "{\"policy\":\"@\"}"),
];

/// Texts that are repeated.
const WORDS: &[&str] =
    &["a", "a;", "$(a ", "\\n*** Update File: a\\n+b\\n-c", "a=0\\n", "a=[0,0,0,0]\\n", "/a/b.rs "];

/// Everything that a machine posts to its own server.
pub(crate) fn posted() -> impl Iterator<Item = Body> {
    let framed = FRAMES.iter().flat_map(|(path, frame)| {
        let places = frame.matches('@').count();
        let put = move |name: &str, part: &str| {
            json(format!("{path} {frame:.80} {name}"), path, frame.replace('@', part))
        };
        let near =
            UNITS.iter().map(move |unit| put(unit, &times(unit, near_bounds(unit, Bounds::POSTED) / places)));
        let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
        let others = [
            put("members", &format!("{{{}}}", members(300_000))),
            put("deep", &deep),
            put("beyond", &repeated("0", 6_200_000 / places)),
        ];
        near.chain(others)
    });
    let texts = TEXTS.iter().flat_map(|(path, frame)| {
        let long = WORDS.iter().flat_map(move |word| {
            SIZES.iter().map(move |bytes| {
                let text = word.repeat(bytes / word.len());
                let body = json(format!("{path} {word} {bytes}"), path, frame.replace('@', &text));
                Body { most: TEXT_COST, ..body }
            })
        });
        let inner = [190_000, 6_000_000].into_iter().map(move |bytes| {
            let inner = format!("[{}]", repeated("0", bytes));
            json(format!("{path} inner {bytes}"), path, frame.replace('@', &inner))
        });
        long.chain(inner)
    });
    framed.chain(texts).chain(exports())
}

fn json(name: String, path: &'static str, text: String) -> Body {
    Body { name, path, kind: "application/json", plain: text.into_bytes(), most: 64 << 20 }
}

/// Telemetry as protobuf: records, attributes, values within values.
fn exports() -> Vec<Body> {
    let field = |number: u64, inner: &[u8]| {
        let mut out = Vec::new();
        put_bytes(&mut out, number, inner);
        out
    };
    let mut text = Vec::new();
    put_bytes(&mut text, 1, b"v");
    let mut attribute = field(1, b"k");
    attribute.extend(field(2, &text));
    let mut number = Vec::new();
    put_number(&mut number, 2, 1);
    let units: &[(&str, Vec<u8>, &[u64])] = &[
        ("resources", field(1, b""), &[]),
        ("scopes", field(2, b""), &[1]),
        ("records", field(2, b""), &[1, 2]),
        ("records with a number", field(2, &number), &[1, 2]),
        ("attributes", field(6, &attribute), &[1, 2, 2]),
        ("empty attributes", field(6, b""), &[1, 2, 2]),
        ("lists", field(1, b""), &[1, 2, 2, 6, 2, 5]),
    ];
    let mut bodies = Vec::new();
    for (name, unit, around) in units {
        for bytes in SIZES {
            let mut plain = unit.repeat(bytes / unit.len());
            for place in around.iter().rev() {
                plain = field(*place, &plain);
            }
            for path in ["/v1/logs", "/v1/traces"] {
                let name = format!("{path} protobuf {name} {bytes}");
                bodies.push(Body {
                    name,
                    path,
                    kind: "application/x-protobuf",
                    plain: plain.clone(),
                    most: 64 << 20,
                });
            }
        }
    }
    bodies
}

const FACT: &str = "{\"task\":\"t\",\"fact\":1,\"version\":1,\"kind\":null,\"list\":0,\"lane\":\"user\",\"occurred\":1,\
                    \"order\":0,\"ended\":null,\"state\":null,\"open\":false,\"tool\":null,\"turn\":null,\
                    \"duration\":null,\"error\":null,\"signature\":null,\"certainty\":\"measured\",\"channels\":1,\
                    \"data\":{\"k\":\"k\",\"m\":{\"list\":[M]}},\"derived\":{},\"cost\":null,\"parts\":[P]}";

/// Everything that a machine ships to a team's server.
pub(crate) fn shipped() -> impl Iterator<Item = Body> {
    const PATH: &str = "/ingest/v1/shipments";
    let shipment = |tasks: &str, facts: &str, rest: &str| {
        format!("{{\"format\":1,\"tasks\":[{tasks}],\"facts\":[{facts}],\"until\":1{rest}}}")
    };
    let fact = |metadata: &str, parts: &str| {
        FACT.replace("[M]", &format!("[{metadata}]")).replace("[P]", &format!("[{parts}]"))
    };
    let by_unit = UNITS.iter().flat_map(move |unit| {
        let one = Bounds { values: 9_500, containers: 3_800 };
        let whole = Bounds { values: 480_000, containers: 95_000 };
        let rich = fact(&times(unit, near_bounds(unit, one)), "");
        let filled = times(unit, near_bounds(unit, whole));
        [
            json(format!("facts {unit}"), PATH, shipment("", &filled, "")),
            json(format!("tasks {unit}"), PATH, shipment(&filled, "", "")),
            json(format!("metadata {unit}"), PATH, shipment("", &fact(&filled, ""), "")),
            json(format!("rich facts {unit}"), PATH, shipment("", &times(&rich, 16), "")),
        ]
    });
    let parts = fact("", &times("7", 9_000));
    let removed = format!(",\"removed\":{{\"version\":1,\"tasks\":[{}]}}", times("\"t\"", 480_000));
    let others = [
        json("parts".to_owned(), PATH, shipment("", &parts, "")),
        json("many parts".to_owned(), PATH, shipment("", &times(&parts, 50), "")),
        json("plain facts".to_owned(), PATH, shipment("", &times(&fact("", ""), 15_000), "")),
        json(
            "a long text".to_owned(),
            PATH,
            shipment("", &fact(&format!("\"{}\"", "a".repeat(8_000_000)), ""), ""),
        ),
        json("removed".to_owned(), PATH, shipment("", "", &removed)),
    ];
    by_unit.chain(others)
}
