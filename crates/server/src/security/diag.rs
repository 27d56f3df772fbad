//! Asks Linux about one connection, over the socket that is there for it: the list of all of them takes milliseconds to
//! read wherever the system is prepared for many, and this takes microseconds.
//!
//! The words are those of `sock_diag(7)`: a head, then a question about a TCP socket by its two addresses.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

/// The kernel's type of a question about a socket, and of its answer.
const BY_FAMILY: u16 = 20;
/// The kernel's type of an answer that is an error number.
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const TCP: u8 = 6;

/// Families of addresses as it numbers them.
const INET: u8 = 2;
const INET6: u8 = 10;

/// Bytes of a head, and of the two addresses of a socket with what belongs to them.
const HEAD: usize = 16;
const ADDRESSES: usize = 48;

/// State of a socket that waits for connections: the kernel answers with it where no connection fits the question.
const LISTENS: u8 = 10;

/// Returns the user of the socket at `peer` that is connected to `near`; `None` if no process holds such a socket.
///
/// The state does not matter: a client that has sent everything may shut down its writing half (`FIN_WAIT1`,
/// `FIN_WAIT2`) and still read the answer. What matters is that a process holds the socket, that is, that it has an
/// inode: of a socket without one the kernel says user 0, which would be root.
///
/// # Errors
/// If the system does not answer such questions here.
pub(super) fn user(peer: SocketAddr, near: SocketAddr) -> nix::Result<Option<u32>> {
    let kernel =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)?;
    send(kernel.as_raw_fd(), &question(peer, near), MsgFlags::empty())?;
    let mut answer = [0; 1024];
    // The kernel has answered by the time that the question is sent.
    let length = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT)?;
    read(answer.get(..length).unwrap_or_default(), peer, near)
}

fn question(peer: SocketAddr, near: SocketAddr) -> Vec<u8> {
    let mut body = vec![if peer.is_ipv4() { INET } else { INET6 }, TCP, 0, 0];
    body.extend_from_slice(&u32::MAX.to_ne_bytes());
    body.extend_from_slice(&peer.port().to_be_bytes());
    body.extend_from_slice(&near.port().to_be_bytes());
    for address in [peer, near] {
        let mut bytes = [0; 16];
        match address.ip() {
            IpAddr::V4(ip) => bytes.iter_mut().zip(ip.octets()).for_each(|(to, from)| *to = from),
            IpAddr::V6(ip) => bytes = ip.octets(),
        }
        body.extend_from_slice(&bytes);
    }
    // Of whichever interface, and of whichever number.
    body.extend_from_slice(&0_u32.to_ne_bytes());
    body.extend_from_slice(&[u8::MAX; 8]);
    let length = u32::try_from(HEAD + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend_from_slice(&BY_FAMILY.to_ne_bytes());
    message.extend_from_slice(&REQUEST.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    message.extend_from_slice(&body);
    message
}

/// Reads the kernel's answer to a question about the socket at `peer` that is connected to `near`.
fn read(answer: &[u8], peer: SocketAddr, near: SocketAddr) -> nix::Result<Option<u32>> {
    let four = |at: usize| answer.get(at..)?.first_chunk::<4>().copied();
    let kind = answer.get(4..).and_then(|rest| rest.first_chunk::<2>()).map(|kind| u16::from_ne_bytes(*kind));
    match kind {
        Some(ERROR) => match Errno::from_raw(-four(HEAD).map_or(0, i32::from_ne_bytes)) {
            Errno::ENOENT => Ok(None),
            error => Err(error),
        },
        Some(BY_FAMILY) => {
            let state = answer.get(HEAD + 1).copied().unwrap_or_default();
            let port = |at: usize| answer.get(at..)?.first_chunk::<2>().copied().map(u16::from_be_bytes);
            // Expiry and two queues stand between the addresses and the user, and the inode is behind it.
            let user = four(HEAD + 4 + ADDRESSES + 12).map(u32::from_ne_bytes).ok_or(Errno::EBADMSG)?;
            let inode = four(HEAD + 4 + ADDRESSES + 16).map(u32::from_ne_bytes).ok_or(Errno::EBADMSG)?;
            let is_meant = state != LISTENS
                && port(HEAD + 4) == Some(peer.port())
                && port(HEAD + 6) == Some(near.port());
            Ok((is_meant && inode != 0).then_some(user))
        }
        _ => Err(Errno::EBADMSG),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt;

    use proptest::prelude::*;

    use super::*;

    fn answer(kind: u16, state: u8, ports: (u16, u16), uid: u32, inode: u32) -> Vec<u8> {
        let mut answer =
            [&92_u32.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], &[2, state, 0, 0]].concat();
        answer.extend_from_slice(&ports.0.to_be_bytes());
        answer.extend_from_slice(&ports.1.to_be_bytes());
        answer.extend_from_slice(&[0; ADDRESSES - 4 + 12]);
        answer.extend_from_slice(&uid.to_ne_bytes());
        answer.extend_from_slice(&inode.to_ne_bytes());
        answer
    }

    #[test]
    fn the_kernel_knows_the_user_of_a_connection_in_every_spelling_of_its_address() {
        let own = std::fs::metadata("/proc/self").unwrap().uid();
        for (listen, connect) in
            [("127.0.0.1:0", "127.0.0.1"), ("127.0.0.1:0", "::ffff:127.0.0.1"), ("[::1]:0", "::1")]
        {
            let Ok(listener) = TcpListener::bind(listen) else { continue };
            let near = listener.local_addr().unwrap();
            let client = TcpStream::connect((connect.parse::<IpAddr>().unwrap(), near.port())).unwrap();
            let (_server, peer) = listener.accept().unwrap();
            match user(peer, near) {
                Ok(user) => assert_eq!(user, Some(own), "{connect}"),
                // A system that keeps such questions out.
                Err(error) => assert_ne!(error, Errno::EBADMSG),
            }
            assert!(!matches!(user(SocketAddr::new(near.ip(), 1), near), Ok(Some(_))));
            drop(client);
        }
    }

    #[test]
    fn a_half_closed_client_is_known_and_a_closed_one_is_not() {
        let own = std::fs::metadata("/proc/self").unwrap().uid();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = listener.local_addr().unwrap();
        let client = TcpStream::connect(near).unwrap();
        let peer = client.local_addr().unwrap();
        if user(peer, near).is_err() {
            return;
        }
        client.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(user(peer, near), Ok(Some(own)), "it waits in the backlog");
        let (server, _) = listener.accept().unwrap();
        assert_eq!(user(peer, near), Ok(Some(own)), "it was accepted");
        drop(client);
        assert_eq!(user(peer, near), Ok(None), "no process can read an answer");
        drop(server);
    }

    #[test]
    fn only_a_socket_that_a_process_holds_has_a_user() {
        let peer: SocketAddr = "127.0.0.1:50000".parse().unwrap();
        let near: SocketAddr = "127.0.0.1:4747".parse().unwrap();
        let read_one =
            |state, ports, uid, inode| read(&answer(BY_FAMILY, state, ports, uid, inode), peer, near);
        for state in [1, 4, 5, 8, 9, 11] {
            assert_eq!(read_one(state, (50000, 4747), 1001, 7), Ok(Some(1001)), "state {state}");
            assert_eq!(read_one(state, (50000, 4747), 0, 7), Ok(Some(0)), "state {state}");
            assert_eq!(read_one(state, (50000, 4747), 0, 0), Ok(None), "state {state} without a process");
        }
        assert_eq!(read_one(10, (50000, 4747), 0, 7), Ok(None), "a listener");
        assert_eq!(read_one(1, (50001, 4747), 0, 7), Ok(None), "another client");
        assert_eq!(read_one(1, (50000, 4748), 0, 7), Ok(None), "a connection to another server");
        let error = |number: i32| {
            let mut answer = answer(ERROR, 0, (0, 0), 0, 0);
            answer.splice(HEAD..HEAD + 4, (-number).to_ne_bytes());
            read(&answer, peer, near)
        };
        assert_eq!(error(Errno::ENOENT as i32), Ok(None));
        assert_eq!(error(Errno::EPERM as i32), Err(Errno::EPERM));
    }

    proptest! {
        #[test]
        fn whatever_comes_back_is_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let peer: SocketAddr = "127.0.0.1:50000".parse().unwrap();
            let near: SocketAddr = "127.0.0.1:4747".parse().unwrap();
            let read = read(&bytes, peer, near);
            prop_assert!(read.is_err() || bytes.len() > HEAD);
        }
    }
}
