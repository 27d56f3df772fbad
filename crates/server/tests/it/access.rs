//! Access control: reading, and changing anything.

use agent_tracer_server::{PeerUser, Scope, ServeError, Token};
use serde_json::json;

use crate::client::Ask;
use crate::world::{NOW, TOKEN, World, config};

const MUTATING: &[&str] = &[
    "/ingest/v1/sessions/ensure",
    "/ingest/v1/sessions/end",
    "/ingest/v1/events",
    "/api/runtime-session-ensure",
    "/api/runtime-session-end",
    "/hooks/claude",
    "/hooks/codex",
    "/v1/logs",
    "/v1/metrics",
    "/v1/traces",
    "/api/v1/login-codes",
    "/api/v1/dead-letters/none/requeue",
];

#[test]
fn nothing_changes_without_the_token() {
    let world = World::new();
    for path in MUTATING {
        let without = world.ask("POST", path).json(&json!({})).send();
        assert_eq!(without.status, 401, "{path}");
        assert_eq!(without.header("www-authenticate"), "Bearer");
        assert_eq!(world.ask("POST", path).bearer("wrong").json(&json!({})).send().status, 401, "{path}");
        assert_ne!(world.post(path, &json!({})).status, 401, "{path}");
    }
    assert_eq!(world.get("/api/v1/tasks").status, 200, "reading on loopback needs none");
    let wrong = world.ask("GET", "/api/v1/tasks").bearer("wrong").send();
    assert_eq!(wrong.status, 401, "who shows a token shows a good one");
}

#[test]
fn a_name_that_is_not_ours_is_refused_whatever_it_asks() {
    let world = World::new();
    let port = world.server.address().port();
    for path in ["/", "/api/v1/tasks", "/health", "/metrics"] {
        for host in ["evil.example".to_owned(), format!("evil.example:{port}"), "localhost:1".to_owned()] {
            let answer = world.ask("GET", path).header("Host", &host).send();
            assert_eq!(answer.status, 421, "{path} {host}");
            answer.wrong();
        }
        for host in [format!("localhost:{port}"), format!("[::1]:{port}"), "127.0.0.1".to_owned()] {
            assert_eq!(world.ask("GET", path).header("Host", &host).send().status, 200, "{path} {host}");
        }
    }
}

#[test]
fn a_page_of_another_site_is_refused_even_with_the_token() {
    let world = World::new();
    for origin in ["http://evil.example", "null", "http://localhost:9"] {
        let post = world.ask("POST", "/ingest/v1/events").bearer(TOKEN).header("Origin", origin);
        assert_eq!(post.json(&json!({})).send().status, 403, "{origin}");
        assert_eq!(world.ask("GET", "/api/v1/tasks").header("Origin", origin).send().status, 403, "{origin}");
    }
    let image = world.ask("GET", "/api/v1/tasks").header("Sec-Fetch-Site", "cross-site").send();
    assert_eq!(image.status, 403);
}

#[test]
fn another_user_of_the_machine_is_refused() {
    let mut other = config();
    other.peer_owner = |_, _| Some(PeerUser::Another);
    let world = World::with(other).unwrap();
    for path in ["/", "/health", "/api/v1/tasks"] {
        let answer = world.ask("GET", path).bearer(TOKEN).send();
        assert_eq!(answer.status, 403, "{path}");
        answer.wrong();
        assert!(answer.header("content-security-policy").contains("default-src 'none'"), "{path}");
    }
}

#[test]
fn every_answer_carries_the_headers_that_keep_pages_in() {
    let world = World::new();
    let answers = [
        world.get("/"),
        world.get("/api/v1/tasks"),
        world.get("/api/v1/nothing"),
        world.ask("POST", "/hooks/claude").send(),
        world.ask("GET", "/").header("Host", "evil.example").send(),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert!(answer.headers.keys().all(|name| !name.starts_with("access-control-")));
    }
}

/// The cookie that a one-time link gives, as a browser sends it back.
fn cookie(world: &World, path: &str) -> String {
    let opened = world.get(path);
    assert_eq!((opened.status, opened.header("location")), (303, "/"));
    let cookie = opened.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

fn own_page(ask: Ask, world: &World) -> Ask {
    ask.header("Origin", &format!("http://{}", world.server.address()))
}

#[test]
fn a_browser_that_opened_the_link_may_change_things_from_a_page_of_ours() {
    let world = World::new();
    let link = world.server.login_link().unwrap();
    let path = link.strip_prefix(&format!("http://{}", world.server.address())).unwrap();
    let cookie = cookie(&world, path);
    assert_eq!(world.get(path).status, 403, "a link is good once");
    assert_eq!(world.get("/login?code=guess").status, 403);
    let make = || world.ask("POST", "/api/v1/login-codes").header("Cookie", &cookie);
    assert_eq!(own_page(make(), &world).send().status, 200);
    assert_eq!(make().header("Sec-Fetch-Site", "same-origin").send().status, 200);
    assert_eq!(make().send().status, 403, "a cookie alone is not enough");
    assert_eq!(make().header("Origin", "http://127.0.0.1:9").send().status, 403);
    let settings = |ask: Ask| ask.send().json()["mayWrite"].clone();
    assert_eq!(settings(world.ask("GET", "/api/v1/settings").header("Cookie", &cookie)), true);
    assert_eq!(settings(world.ask("GET", "/api/v1/settings")), false);
    world.clock.store(NOW + 31 * 86_400_000, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(own_page(make(), &world).send().status, 401, "a session ends");
}

#[test]
fn who_has_the_token_makes_links() {
    let world = World::new();
    let made = world.ask("POST", "/api/v1/login-codes").bearer(TOKEN).send();
    cookie(&world, made.json()["path"].as_str().unwrap());
    let late = world.ask("POST", "/api/v1/login-codes").bearer(TOKEN).send();
    world.clock.store(NOW + 16 * 60_000, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(world.get(late.json()["path"].as_str().unwrap()).status, 403, "a link ends");
}

#[test]
fn where_others_can_reach_it_nothing_is_free() {
    let mut open = config();
    open.listen = "0.0.0.0:0".parse().unwrap();
    assert!(matches!(World::with(open.clone()), Err(ServeError::NoTokens(_))));
    let secret = |text: &str| text.repeat(32);
    let token = |text: &str, scope| Token { secret: secret(text), scope };
    open.tokens = vec![token("r", Scope::Read), token("i", Scope::Ingest)];
    let world = World::with(open).unwrap();
    let address = std::net::SocketAddr::new([127, 0, 0, 1].into(), world.server.address().port());
    let status = |method: &str, path: &str, token: Option<&str>| {
        let ask = Ask::new(address, method, path);
        let ask = if method == "POST" { ask.json(&json!({"events": []})) } else { ask };
        token.map_or(ask.clone(), |token| ask.bearer(token)).send().status
    };
    let (reads, ingests) = (secret("r"), secret("i"));
    for path in ["/api/v1/tasks", "/metrics"] {
        assert_eq!(status("GET", path, None), 401);
        assert_eq!(status("GET", path, Some(&reads)), 200);
        assert_eq!(status("GET", path, Some(&ingests)), 403);
        assert_eq!(status("GET", path, Some(TOKEN)), 200);
    }
    assert_eq!(status("POST", "/ingest/v1/events", Some(&reads)), 403);
    assert_eq!(status("POST", "/ingest/v1/events", Some(&ingests)), 422);
    assert_eq!(status("POST", "/api/v1/login-codes", Some(&ingests)), 403);
}

#[test]
fn who_calls_it_by_a_configured_name_comes_from_elsewhere() {
    let mut named = config();
    named.names = vec!["tracer.lan".to_owned()];
    let world = World::with(named).unwrap();
    let ask = || world.ask("GET", "/api/v1/tasks").header("Host", "tracer.lan");
    assert_eq!(ask().send().status, 401);
    assert_eq!(ask().bearer(TOKEN).send().status, 200);
    assert_eq!(ask().bearer(TOKEN).header("Origin", "https://tracer.lan").send().status, 200);
}

#[test]
fn a_token_that_can_be_guessed_is_no_token() {
    let mut weak = config();
    weak.owner_token = "short".to_owned();
    assert!(matches!(World::with(weak), Err(ServeError::WeakToken)));
}
