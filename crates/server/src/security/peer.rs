//! Finds the user of this machine at the other end of a loopback connection.
//!
//! TCP carries no credentials, but Linux knows of every connection which user opened it; other systems do not say.
//! On Linux a connection without a known user is refused like that of another user: a client that can read an answer
//! has a socket, and a socket that a process holds has a user.

use std::net::SocketAddr;

use crate::config::PeerUser;

/// Returns to whom a loopback connection belongs. `None` if the system does not say.
#[must_use]
pub fn peer_owner(peer: SocketAddr, near: SocketAddr) -> Option<PeerUser> {
    #[cfg(target_os = "linux")]
    return linux::owner(peer, near);
    #[cfg(not(target_os = "linux"))]
    {
        drop((peer, near));
        None
    }
}

/// Returns whether the system says that a process holds the far end of a loopback connection.
pub(crate) fn is_held(peer: SocketAddr, near: SocketAddr) -> bool {
    #[cfg(target_os = "linux")]
    return matches!(crate::security::diag::user(peer, near), Ok(Some(_)));
    #[cfg(not(target_os = "linux"))]
    {
        drop((peer, near));
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write;
    use std::fs;
    use std::io;
    use std::net::{IpAddr, Ipv6Addr, SocketAddr};
    use std::os::unix::fs::MetadataExt;

    use crate::config::PeerUser;
    use crate::security::diag;

    pub(super) fn owner(peer: SocketAddr, near: SocketAddr) -> Option<PeerUser> {
        // The owner of a process's own folder is its effective user.
        let own = fs::metadata("/proc/self").ok()?.uid();
        let user = match diag::user(peer, near) {
            Ok(user) => user,
            Err(_) => match in_tables(peer, near) {
                Ok(user) => user,
                // Refused, but not as a stranger: a client of our own may try again.
                Err(_) => return Some(PeerUser::Unavailable),
            },
        };
        Some(if user? == own { PeerUser::Same } else { PeerUser::Another })
    }

    /// Finds the user in the lists of all connections, where the system answers no questions about one.
    fn in_tables(peer: SocketAddr, near: SocketAddr) -> io::Result<Option<u32>> {
        for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let table = match fs::read_to_string(path) {
                Ok(table) => table,
                // A system without IPv6 has no such list.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if let Some(user) = user_in(&table, peer, near) {
                return Ok(Some(user));
            }
        }
        Ok(None)
    }

    /// Returns the user of the socket at `peer` that is connected to `near`.
    pub(super) fn user_in(table: &str, peer: SocketAddr, near: SocketAddr) -> Option<u32> {
        let (local, remote) = (spellings(peer), spellings(near));
        table.lines().skip(1).find_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (here, there) = (fields.nth(1)?, fields.next()?);
            if !local.iter().zip(&remote).any(|(local, remote)| local == here && remote == there) {
                return None;
            }
            let user = fields.nth(4)?.parse().ok()?;
            // A socket that no process holds is listed with user 0, which would be root, and without an inode.
            let inode: u64 = fields.nth(1)?.parse().ok()?;
            (inode != 0).then_some(user)
        })
    }

    /// Writes an address as the kernel does: in words of four bytes, each in the machine's own order. A socket that could
    /// speak either protocol has a mapped address in the other table.
    fn spellings(address: SocketAddr) -> Vec<String> {
        let port = address.port();
        let words = |bytes: &[u8]| -> String {
            let mut text = String::new();
            for word in bytes.as_chunks::<4>().0 {
                // Writing to a text cannot fail.
                write!(text, "{:08X}", u32::from_ne_bytes(*word)).ok();
            }
            text
        };
        let six = |address: Ipv6Addr| format!("{}:{port:04X}", words(&address.octets()));
        match address.ip() {
            IpAddr::V4(ip) => {
                vec![format!("{}:{port:04X}", words(&ip.octets())), six(ip.to_ipv6_mapped())]
            }
            IpAddr::V6(ip) => vec![six(ip)],
        }
    }

    #[cfg(test)]
    mod tests {
        use std::net::{TcpListener, TcpStream};

        use super::*;

        #[test]
        fn the_kernel_says_whose_a_connection_is() {
            for address in ["127.0.0.1:0", "[::1]:0"] {
                let Ok(listener) = TcpListener::bind(address) else { continue };
                let near = listener.local_addr().unwrap();
                let client = TcpStream::connect(near).unwrap();
                let peer = client.local_addr().unwrap();
                assert_eq!(owner(peer, near), Some(PeerUser::Same), "{address}");
                let own = fs::metadata("/proc/self").unwrap().uid();
                assert_eq!(in_tables(peer, near).unwrap(), Some(own), "{address}");
                client.shutdown(std::net::Shutdown::Write).unwrap();
                assert_eq!(owner(peer, near), Some(PeerUser::Same), "{address}, half closed");
                assert_eq!(in_tables(peer, near).unwrap(), Some(own), "{address}, half closed");
                assert_eq!(owner(SocketAddr::new(near.ip(), 1), near), None);
            }
        }

        #[cfg(target_endian = "little")]
        #[test]
        fn another_user_is_seen_in_the_table() {
            let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                0: 0100007F:C350 0100007F:128B 06 00000000:00000000 00:00000000 00000000     0        0 0 1\n   \
                1: 0100007F:C350 0100007F:128B 01 00000000:00000000 00:00000000 00000000  1001        0 4711 1\n   \
                2: 0100007F:C351 0100007F:128B 06 00000000:00000000 00:00000000 00000000     0        0 0 1\n   \
                3: 0100007F:C352 0100007F:128B 05 00000000:00000000 00:00000000 00000000  1001        0 4712 1\n   \
                4: 0100007F:C353 0100007F:128B 04 00000000:00000000 00:00000000 00000000     0        0 0 1\n";
            let near: SocketAddr = "127.0.0.1:4747".parse().unwrap();
            let user_at = |port| user_in(table, SocketAddr::new(near.ip(), port), near);
            assert_eq!(user_at(50000), Some(1001));
            assert_eq!(user_at(50001), None, "closed");
            assert_eq!(user_at(50002), Some(1001), "half closed: it still reads");
            assert_eq!(user_at(50003), None, "no process holds it");
            assert_eq!(user_in("rubbish\nmore rubbish\n", "127.0.0.1:50000".parse().unwrap(), near), None);
        }
    }
}
