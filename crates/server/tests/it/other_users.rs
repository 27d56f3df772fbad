//! Other users of this machine: Linux knows the user of every connection, and only the server's own is answered.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use agent_tracer_server::{Config, PeerUser};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};
use nix::unistd::{Uid, setfsuid};

use crate::client::{self, read};
use crate::world::{TOKEN, World, config};

/// A user that is not the one of the tests.
const STRANGER: u32 = 54_321;

/// Asks the system to whom a connection belongs, as the server does outside of tests.
fn real() -> Config {
    let mut real = config();
    real.peer_owner = Config::new(TOKEN).peer_owner;
    real
}

/// Connects as another user. `None` unless the tests run as root.
fn connect_as_stranger(address: SocketAddr) -> Option<TcpStream> {
    // The user of files and sockets is a thread's own.
    let connecting = std::thread::spawn(move || {
        setfsuid(Uid::from_raw(STRANGER));
        // The second call returns what the first one set.
        let set = setfsuid(Uid::from_raw(STRANGER));
        (set == Uid::from_raw(STRANGER)).then(|| client::connect(address))
    });
    connecting.join().unwrap()
}

/// Connects from another address of this machine.
fn connect_from(ip: [u8; 4], address: SocketAddr) -> TcpStream {
    let made = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).unwrap();
    let [a, b, c, d] = ip;
    bind(std::os::fd::AsRawFd::as_raw_fd(&made), &SockaddrIn::new(a, b, c, d, 0)).unwrap();
    let SocketAddr::V4(to) = address else { panic!("{address}") };
    connect(std::os::fd::AsRawFd::as_raw_fd(&made), &SockaddrIn::from(to)).unwrap();
    TcpStream::from(made)
}

fn read_all(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset is an end too.
    stream.read_to_end(&mut text).ok();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn the_system_itself_says_whose_a_connection_is() {
    let world = World::with(real()).unwrap();
    assert_eq!(world.get("/api/v1/tasks").status, 200);
    let Some(mut stranger) = connect_as_stranger(world.server.address()) else { return };
    stranger.write_all(&world.ask("GET", "/api/v1/tasks").bytes(true)).unwrap();
    assert_eq!(read(&mut BufReader::new(stranger), "GET").status, 403);
}

#[test]
fn a_connection_without_a_known_user_is_refused() {
    let mut unsure = config();
    unsure.peer_owner = |_, _| None;
    let world = World::with(unsure).unwrap();
    for path in ["/", "/health", "/api/v1/tasks"] {
        assert_eq!(world.get(path).status, 403, "{path}");
        assert_eq!(world.ask("GET", path).bearer(TOKEN).send().status, 403, "{path}");
    }
}

/// A post of our own hooks must not be taken for a stranger's: 403 says never, 503 says later.
#[test]
fn a_connection_whose_user_cannot_be_looked_up_may_try_again() {
    let mut busy = config();
    busy.peer_owner = |_, _| Some(PeerUser::Unavailable);
    let world = World::with(busy).unwrap();
    let answer = world.ask("GET", "/api/v1/tasks").bearer(TOKEN).send();
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), "5");
}

#[test]
fn a_stranger_that_ends_its_sending_is_refused() {
    let world = World::with(real()).unwrap();
    for _ in 0..50 {
        let Some(mut stranger) = connect_as_stranger(world.server.address()) else { return };
        let mut asks = world.ask("GET", "/api/v1/tasks").bytes(false);
        // The beginning of a second request keeps the connection readable for the server.
        asks.extend_from_slice(b"GET /x HTTP/1.1\r\n");
        stranger.write_all(&asks).unwrap();
        stranger.shutdown(Shutdown::Write).ok();
        let answer = read_all(stranger);
        assert!(!answer.contains(" 200 "), "{answer}");
    }
}

#[test]
fn a_stranger_that_waited_in_the_queue_is_refused() {
    let mut narrow = real();
    narrow.limits.connections = 1;
    let world = World::with(narrow).unwrap();
    // The only place is taken by a stream, and the next own connection waits for it.
    let first = world.ask("GET", "/api/v1/stream").follow();
    let mut second = client::connect(world.server.address());
    second.write_all(&world.ask("GET", "/health").bytes(true)).unwrap();
    let mut strangers = Vec::new();
    for _ in 0..20 {
        let Some(mut stranger) = connect_as_stranger(world.server.address()) else { return };
        let mut asks = world.ask("GET", "/api/v1/tasks").bytes(false);
        asks.extend_from_slice(b"GET /x HTTP/1.1\r\n");
        stranger.write_all(&asks).unwrap();
        stranger.shutdown(Shutdown::Write).unwrap();
        strangers.push(stranger);
    }
    drop(first);
    assert_eq!(read(&mut BufReader::new(second), "GET").status, 200);
    for stranger in strangers {
        let answer = read_all(stranger);
        assert!(!answer.contains(" 200 "), "{answer}");
    }
}

#[test]
fn an_own_client_that_ends_its_sending_is_answered() {
    let world = World::with(real()).unwrap();
    for close in [true, false] {
        let mut stream = client::connect(world.server.address());
        stream.write_all(&world.ask("GET", "/api/v1/tasks").bytes(close)).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = read_all(stream);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[test]
fn idle_connections_of_another_user_take_no_place() {
    let mut narrow = config();
    narrow.limits.connections = 2;
    narrow.limits.header_time = Duration::from_secs(3600);
    narrow.peer_owner = |peer, _| {
        let is_stranger = peer.ip() == std::net::IpAddr::from([127, 0, 0, 2]);
        Some(if is_stranger { PeerUser::Another } else { PeerUser::Same })
    };
    let world = World::with(narrow).unwrap();
    // The places are in use, so that none could be taken away from an idle connection.
    let _stream = world.ask("GET", "/api/v1/stream").follow();
    let held: Vec<_> = (0..40).map(|_| connect_from([127, 0, 0, 2], world.server.address())).collect();
    assert_eq!(world.get("/api/v1/tasks").status, 200);
    for stream in held {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let answer = read_all(stream);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 403 "), "{answer}");
    }
}

#[test]
fn an_idle_connection_gives_way_and_a_stream_does_not() {
    let mut narrow = config();
    narrow.limits.connections = 2;
    narrow.limits.header_time = Duration::from_secs(3600);
    let world = World::with(narrow).unwrap();
    let mut events = world.ask("GET", "/api/v1/stream?after=0").follow();
    let idle = client::connect(world.server.address());
    assert_eq!(world.get("/api/v1/tasks").status, 200, "the idle one gives way");
    assert_eq!(read_all(idle), "");
    world.memory.row(&crate::world::task("s"), "a", agent_tracer_event::Kind::UserMessage, 1);
    let row = world.memory.rows.lock().unwrap().clone();
    world.live.publish(&row);
    assert_eq!(events.seqs(1), [1], "the stream goes on");
}
