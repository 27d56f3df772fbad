//! Whether anybody reads the spool. Nobody has to: nothing is lost without.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use super::check::{Check, Group, State};

/// Where the server listens unless it is told otherwise.
const ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 4747);

pub(super) fn checks() -> Vec<Check> {
    let address = SocketAddr::from(ADDRESS);
    let answers = TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok();
    vec![if answers {
        Check::new(Group::Server, "server", State::Ok, format!("something answers at {address}"))
    } else {
        Check::new(
            Group::Server,
            "server",
            State::Info,
            format!("not running at {address}; nothing is lost, the spool keeps events until it is"),
        )
    }]
}
