//! TLS to the engine: certificates that the system trusts are accepted, others refused.

use std::path::Path;
use std::process::Command;

use agent_tracer_fleet::clickhouse::{Fleet, FleetError, StoreAddress};

use crate::engine::Engine;

/// Names the address for the process that asks; it is this test again, with another environment.
const ADDRESS: &str = "FLEET_TLS_ADDRESS";

/// Makes a self-signed certificate for this machine, and its key.
fn certificate(folder: &Path) -> (String, String) {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("missing: `openssl`\nhint: install it (Debian: `apt-get install openssl`)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (certificate.display().to_string(), key.display().to_string())
}

#[test]
fn an_encrypted_connection_trusts_only_what_the_system_trusts() {
    if let Ok(address) = std::env::var(ADDRESS) {
        let fleet = Fleet::new(StoreAddress::parse(&address).unwrap()).unwrap();
        match fleet.migrate() {
            Ok(()) => assert!(fleet.version().unwrap() > 0),
            Err(error @ FleetError::Unreachable(_)) => panic!("not reached: {error}"),
            Err(error) => panic!("{error}"),
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = certificate(folder.path());
    let words = ["--certificate", certificate.as_str(), "--key", key.as_str()];
    let engine = Engine::start_with(&folder.path().join("data"), false, &words);
    let port = engine.url.rsplit(':').next().unwrap();
    let ask = |trusted: &str| {
        let name = "clickhouse::tls::an_encrypted_connection_trusts_only_what_the_system_trusts";
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(ADDRESS, format!("clickhouses://localhost:{port}/tracer"))
            .env("SSL_CERT_FILE", trusted)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (reached, said) = ask(&certificate);
    assert!(reached, "{said}");
    let other = folder.path().join("other.pem");
    std::fs::File::create(&other).unwrap();
    let (reached, said) = ask(&other.display().to_string());
    assert!(!reached && said.contains("not reached"), "{said}");
}
