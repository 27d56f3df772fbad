//! Which user of this machine is at the other end of a loopback connection.
//!
//! TCP carries no credentials, but Linux knows of every connection which user opened it. Elsewhere nobody can tell.

use std::net::SocketAddr;

use crate::config::PeerIs;

/// Says whose a loopback connection is. `None` where the system cannot tell.
#[must_use]
pub fn peer_owner(peer: SocketAddr, near: SocketAddr) -> Option<PeerIs> {
    #[cfg(target_os = "linux")]
    return linux::owner(peer, near);
    #[cfg(not(target_os = "linux"))]
    {
        drop((peer, near));
        None
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write;
    use std::fs;
    use std::net::{IpAddr, Ipv6Addr, SocketAddr};
    use std::os::unix::fs::MetadataExt;

    use crate::config::PeerIs;
    use crate::security::diag;

    pub(super) fn owner(peer: SocketAddr, near: SocketAddr) -> Option<PeerIs> {
        // The owner of a process's own folder is its effective user.
        let own = fs::metadata("/proc/self").ok()?.uid();
        let uid = diag::user(peer, near).unwrap_or_else(|_| in_tables(peer, near))?;
        Some(if uid == own { PeerIs::Same } else { PeerIs::Another })
    }

    /// The same from the lists of all connections, where the system answers no questions about one.
    fn in_tables(peer: SocketAddr, near: SocketAddr) -> Option<u32> {
        ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|path| {
            let table = fs::read_to_string(path).ok()?;
            listed(&table, peer, near)
        })
    }

    /// The user of the socket at `peer` that is connected to `near`.
    pub(super) fn listed(table: &str, peer: SocketAddr, near: SocketAddr) -> Option<u32> {
        let (local, remote) = (spellings(peer), spellings(near));
        table.lines().skip(1).find_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (here, there, state) = (fields.nth(1)?, fields.next()?, fields.next()?);
            // Sockets that are closed already are listed as nobody's, which would be root's.
            let open = matches!(state, "01" | "08");
            let same = local.iter().zip(&remote).any(|(local, remote)| local == here && remote == there);
            if !(open && same) {
                return None;
            }
            fields.nth(3)?.parse().ok()
        })
    }

    /// An address as the kernel writes it: in words of four bytes, each in the machine's own order. A socket that could
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
                assert_eq!(owner(peer, near), Some(PeerIs::Same), "{address}");
                let own = fs::metadata("/proc/self").unwrap().uid();
                assert_eq!(in_tables(peer, near), Some(own), "{address}");
                assert_eq!(owner(SocketAddr::new(near.ip(), 1), near), None);
            }
        }

        #[cfg(target_endian = "little")]
        #[test]
        fn another_user_is_seen_in_the_table() {
            let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n   \
                0: 0100007F:C350 0100007F:128B 06 00000000:00000000 00:00000000 00000000     0        0 1\n   \
                1: 0100007F:C350 0100007F:128B 01 00000000:00000000 00:00000000 00000000  1001        0 1\n   \
                2: 0100007F:C351 0100007F:128B 06 00000000:00000000 00:00000000 00000000     0        0 1\n";
            let near: SocketAddr = "127.0.0.1:4747".parse().unwrap();
            assert_eq!(listed(table, "127.0.0.1:50000".parse().unwrap(), near), Some(1001));
            assert_eq!(listed(table, "127.0.0.1:50001".parse().unwrap(), near), None, "closed: cannot tell");
            assert_eq!(listed("rubbish\nmore rubbish\n", "127.0.0.1:50000".parse().unwrap(), near), None);
        }
    }
}
