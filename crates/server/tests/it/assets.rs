//! The dashboard's files.

use crate::world::World;

#[test]
fn files_have_their_type_and_hashed_ones_are_kept_for_ever() {
    let world = World::new();
    let page = world.get("/");
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "no-cache");
    let script = world.get("/assets/app-1a2b.js");
    assert_eq!(script.header("content-type"), "text/javascript");
    assert_eq!(script.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!((script.text().as_str(), script.header("content-encoding")), ("export {}", ""));
    let packed = world.ask("GET", "/assets/app-1a2b.js").header("Accept-Encoding", "gzip, br").send();
    assert_eq!((packed.text().as_str(), packed.header("content-encoding")), ("packed", "gzip"));
    let known = world.ask("GET", "/").header("If-None-Match", page.header("etag")).send();
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(world.ask("HEAD", "/").send().status, 200);
}

#[test]
fn deep_links_show_the_page_and_missing_files_do_not() {
    let world = World::new();
    for path in ["/tasks", "/tasks/t1/turns", "/search?q=x"] {
        let page = world.get(path);
        assert_eq!((page.status, page.text().contains("<title>page")), (200, true), "{path}");
    }
    for path in ["/assets/old-9z.js", "/favicon.ico", "/assets/", "/api/x", "/v1/x"] {
        let answer = world.get(path);
        assert!(matches!(answer.status, 404 | 401), "{path}: {}", answer.status);
        answer.wrong();
    }
}
