//! Settings of the server.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The permission of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Ask questions and follow the stream.
    Read,
    /// Bring observations.
    Ingest,
    /// Everything: the owner's own token.
    Owner,
}

/// A token for another person or program.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The secret.
    pub secret: String,
    /// Its permission.
    pub scope: Scope,
}

// A secret that is printed is in a log.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// A proxy in front of the server that lets people in and names them.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// The header in which it names them.
    pub header: String,
    /// The secret that it sends along as `X-Agent-Tracer-Proxy-Secret`.
    pub secret: String,
    /// The addresses it may have; none named: any.
    pub from: Vec<std::net::IpAddr>,
    /// The people who may change things. All others may read.
    pub admins: Vec<String>,
}

// A secret that is printed is in a log.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("header", &self.header)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// The most of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body, before and after decompression.
    pub body_bytes: usize,
    /// Bytes of a request's line and headers.
    pub header_bytes: usize,
    /// The time in which the headers of a request must arrive.
    pub header_time: Duration,
    /// The time a request may take in all.
    pub request_time: Duration,
    /// Connections at once; the next ones wait.
    pub connections: usize,
    /// Followers of the stream at once.
    pub streams: usize,
    /// The silence of a stream after which it sends a heartbeat.
    pub heartbeat: Duration,
    /// The interval of checking that a follower of the stream still has access.
    pub recheck: Duration,
    /// The most rows a follower may be behind at its start and still get every one of them.
    pub catch_up_rows: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 6 << 20,
            header_bytes: 32 << 10,
            // A client that sends its head byte by byte gives its place back.
            header_time: Duration::from_secs(10),
            request_time: Duration::from_secs(30),
            connections: 256,
            streams: 32,
            // Proxies close what is silent for long (nginx after 60 s), and a follower sees a dead connection only by silence.
            heartbeat: Duration::from_secs(15),
            recheck: Duration::from_secs(2),
            catch_up_rows: 10_000,
        }
    }
}

/// Finds the user of a loopback connection from its remote and its local address.
pub type PeerOwner = fn(SocketAddr, SocketAddr) -> Option<PeerUser>;

/// The user of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerUser {
    /// Of the user that runs the server.
    Same,
    /// Of another user.
    Another,
    /// The system could not be asked, for example because no file handles are left.
    Unavailable,
}

/// Settings of the server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Host names besides the loopback ones, without a port. A request under one of them comes from another machine
    /// and needs a token for everything.
    pub names: Vec<String>,
    /// The owner's token: everything that changes anything needs it.
    pub owner_token: String,
    /// A proxy that names people.
    pub proxy: Option<Proxy>,
    /// Tokens of others. Needed to listen anywhere but on loopback.
    pub tokens: Vec<Token>,
    /// The time zone of days where a query does not say: an IANA name or an offset. UTC if there is none.
    pub time_zone: Option<String>,
    /// The number of models with a price of the user's own.
    pub own_prices: u64,
    /// The most of everything.
    pub limits: Limits,
    /// Tells users of this machine apart.
    pub peer_owner: PeerOwner,
}

impl Config {
    /// The address that everything about this product names.
    pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4747);

    /// Returns the default settings with this token of the owner.
    #[must_use]
    pub fn new(owner_token: impl Into<String>) -> Self {
        Self {
            listen: Self::DEFAULT_LISTEN,
            names: Vec::new(),
            owner_token: owner_token.into(),
            proxy: None,
            tokens: Vec::new(),
            time_zone: None,
            own_prices: 0,
            limits: Limits::default(),
            peer_owner: crate::security::peer_owner,
        }
    }
}
