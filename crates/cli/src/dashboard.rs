//! The dashboard that was built into the program.

use agent_tracer_server::Asset;

/// Name, contents, and the contents compressed with gzip and brotli.
type File = (&'static str, &'static [u8], Option<&'static [u8]>, Option<&'static [u8]>);

const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));

/// Returns a file of the dashboard.
pub(crate) fn file(name: &str) -> Option<Asset> {
    let place = FILES.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
    let (name, plain, gzip, brotli) = *FILES.get(place)?;
    Some(Asset { content_type: content_type(name), plain, gzip, brotli })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_and_has_a_type() {
        for (name, plain, ..) in FILES {
            let asset = file(name).unwrap();
            assert_eq!(asset.plain, *plain, "{name}");
            assert_ne!(asset.content_type, "application/octet-stream", "{name}");
        }
        assert!(file("../Cargo.toml").is_none());
    }
}
