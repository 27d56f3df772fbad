//! Authorities of certificates: what leaves this machine goes to receivers of a company's own authority too, if it is named.
//!
//! `authority/` holds such an authority and the certificate of `localhost` that it signed, valid for a hundred years. Its key
//! was not kept: to replace it, sign a new certificate with `openssl x509 -req -CA` and `subjectAltName=DNS:localhost`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::history::full;
use crate::world::World;

const AUTHORITY: &str = include_str!("authority/authority.pem");
const CONF: &str = "home/.config/agent-tracer/config.toml";

/// Starts a receiver with the certificate of the authority, which accepts everything.
fn receiver() -> String {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("authority/localhost.pem")).expect("PEM");
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("authority/localhost.key")).expect("PEM");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate and its key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // Ends with the process of the test.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut reader = BufReader::new(StreamOwned::new(connection, stream.expect("a stream")));
            // A client that does not trust the certificate ends here.
            drop(answer(&mut reader));
        }
    });
    format!("https://localhost:{port}")
}

fn answer(reader: &mut BufReader<StreamOwned<ServerConnection, std::net::TcpStream>>) -> std::io::Result<()> {
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().expect("a length");
        }
    }
    std::io::copy(&mut std::io::Read::take(&mut *reader, length), &mut std::io::sink())?;
    let stream = reader.get_mut();
    stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")?;
    stream.conn.send_close_notify();
    stream.flush()
}

#[test]
fn a_webhook_is_trusted_if_its_authority_is_named_and_only_then() {
    let mut world = World::new();
    world.write(CONF, &format!("[[alerts.webhook]]\nurl = \"{}/hook\"\n", receiver()));
    world.write("authorities/one.pem", AUTHORITY);
    world.write("folder/0a1b2c3d.0", AUTHORITY);
    let unknown = world.run(&["alerts", "test"]).ended_with(1);
    assert_eq!(unknown.stdout, "webhook 1: the receiver could not be reached\n");
    world.set("SSL_CERT_FILE", "[W]/authorities/one.pem");
    assert_eq!(world.run(&["alerts", "test"]).ended_with(0).stdout, "webhook 1: sent\n");
    world.set("SSL_CERT_FILE", "[W]/authorities/none.pem");
    world.run(&["alerts", "test"]).ended_with(1);
    world.set("SSL_CERT_FILE", "");
    world.set("SSL_CERT_DIR", "[W]/folder");
    assert_eq!(world.run(&["alerts", "test"]).ended_with(0).stdout, "webhook 1: sent\n");
}

#[test]
fn a_server_of_a_named_authority_is_shipped_to() {
    let mut world = full();
    world.set("AGENT_TRACER_SHIP_TOKEN", "a-token-of-the-test");
    world.write("authority.pem", AUTHORITY);
    world.set("SSL_CERT_FILE", "[W]/authority.pem");
    let shipped = world.run(&["ship", "--once", "--to", &receiver()]).ended_with(0);
    assert!(shipped.stdout.starts_with("shipped "), "{}", shipped.stdout);
}
