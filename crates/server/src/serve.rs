//! Starts the server, takes connections of users who may connect, and stops without cutting off a request.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::app::App;
use crate::config::{Config, PeerUser};
use crate::connection_slots::{ConnectionSlot, ConnectionSlots};
use crate::deps::ServerDeps;
use crate::half_open::HalfOpen;
use crate::local_zone::LocalZone;
use crate::problem::Problem;
use crate::routes;
use crate::security::{Peer, add_headers, random};

/// Threads that serve connections. Waiting for the store happens on others.
const THREADS: usize = 2;

/// Threads that may wait for the store, beyond those that one request each may take.
const WAITING_THREADS: usize = 16;

/// The time a stopping server waits for requests that are under way.
const GRACE: Duration = Duration::from_secs(10);

/// Connections of other users that are answered at once.
const REFUSALS: usize = 8;

/// The time a connection of another user may take to read its answer.
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// The most headers of a request.
const HEADERS: usize = 100;

/// A reason why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`\nhint: another program may use it; choose one with `--listen`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Other machines could reach it, and no token is configured.
    #[error(
        "refusing to listen on `{0}` without tokens: other machines can reach it\nhint: listen on a loopback address, such as `127.0.0.1:4747`, and reach it through a tunnel"
    )]
    NoTokens(SocketAddr),
    /// The owner's token is too short to be a secret.
    #[error("the token is shorter than 32 characters")]
    WeakToken,
    /// The time zone is unknown.
    #[error("unknown time zone `{0}`")]
    NoSuchZone(String),
    /// The system gave no threads or no random numbers.
    #[error("cannot start the server")]
    System(#[source] io::Error),
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    app: AppHandle,
    closing: watch::Sender<bool>,
    accepting: Option<JoinHandle<()>>,
    runtime: Option<Runtime>,
}

/// The shared state, which prints nothing of itself.
struct AppHandle(Arc<App>);

impl std::fmt::Debug for AppHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("App")
    }
}

/// Starts a server on threads of its own.
pub fn serve(config: Config, deps: ServerDeps) -> Result<Server, ServeError> {
    // Before anything is bound: not even for a moment does a port without tokens stand open to other machines.
    if !config.listen.ip().is_loopback() && config.tokens.is_empty() && deps.team.is_none() {
        return Err(ServeError::NoTokens(config.listen));
    }
    let secrets = config.tokens.iter().map(|token| &token.secret).chain([&config.owner_token]);
    if secrets.into_iter().any(|secret| secret.len() < 32) {
        return Err(ServeError::WeakToken);
    }
    let zone = match &config.time_zone {
        Some(name) => LocalZone::parse(name).map_err(|error| ServeError::NoSuchZone(error.name))?,
        None => LocalZone::UTC,
    };
    let bind = |source| ServeError::Bind { address: config.listen, source };
    // Bound before there is a runtime: an address in use is an error of the start, not of a task.
    let listener = TcpListener::bind(config.listen).map_err(bind)?;
    listener.set_nonblocking(true).map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(WAITING_THREADS)
        .thread_name("agent-tracer-http")
        .enable_io()
        .enable_time()
        .build()
        .map_err(ServeError::System)?;
    let mut instance = [0_u8; 8];
    getrandom::fill(&mut instance).map_err(|error| ServeError::System(io::Error::other(error)))?;
    let (closing, closed) = watch::channel(false);
    let app = App::new(config, deps, address, zone, u64::from_le_bytes(instance), closed);
    let app = Arc::new(app);
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener).map_err(bind_again(address))?
    };
    let accepting = runtime.spawn(accept(listener, Arc::clone(&app)));
    Ok(Server { address, app: AppHandle(app), closing, accepting: Some(accepting), runtime: Some(runtime) })
}

fn bind_again(address: SocketAddr) -> impl Fn(io::Error) -> ServeError {
    move |source| ServeError::Bind { address, source }
}

impl Server {
    /// Returns the address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes a link that lets the browser that opens it first change things.
    pub fn login_link(&self) -> Result<String, ServeError> {
        let now = (self.app.0.deps.clock)();
        let code = self.app.0.access.codes.make(now);
        let code = code.map_err(|error| ServeError::System(io::Error::other(error)))?;
        Ok(format!("http://{}{}", self.address, code.path))
    }

    /// Takes no more connections, ends streams, and waits for the requests that are under way.
    pub fn stop(mut self) {
        self.close();
    }

    fn close(&mut self) {
        self.closing.send_replace(true);
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(accepting) = self.accepting.take() {
            // The task itself ends in time; a panic in it has nothing left to stop.
            drop(runtime.block_on(accepting));
        }
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

/// Takes connections until the server stops.
async fn accept(listener: tokio::net::TcpListener, app: Arc<App>) {
    let router = routes::router(Arc::clone(&app));
    let slots = ConnectionSlots::new(app.config.limits.connections);
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let graceful = GracefulShutdown::new();
    let mut closing = app.closing.clone();
    loop {
        let next = async {
            let (stream, address) = listener.accept().await?;
            // Before a slot is given: a refused connection must not take the slot of an admitted one.
            let address = match admit(&app, &stream, address).await {
                Ok(address) => address,
                Err(refusal) => {
                    refuse(stream, refusal, &refusals);
                    return Ok(None);
                }
            };
            // A connection without a slot waits here, and the next ones in the system's queue.
            io::Result::Ok(slots.take().await.map(|slot| (stream, address, slot)))
        };
        let taken = tokio::select! {
            _ = closing.wait_for(|closing| *closing) => break,
            taken = next => taken,
        };
        match taken {
            Ok(Some((stream, address, slot))) => connection(&app, &router, &graceful, stream, address, slot),
            Ok(None) => {}
            // Out of file descriptors: others have to close some first.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    // Closed before the grace: a new client is refused at once, instead of waiting in a queue that is never read.
    drop(listener);
    drop(tokio::time::timeout(GRACE, graceful.shutdown()).await);
}

/// The reason to refuse a connection before its request is read.
#[derive(Clone, Copy)]
enum Refusal {
    /// It belongs to another user of this machine.
    Stranger,
    /// Its user could not be looked up.
    UnknownUser,
}

/// Returns the address of an admitted connection.
///
/// A team's server requires a token of every client, and a proxy beside it runs as a user of its own: there the user
/// of a connection does not matter.
async fn admit(app: &App, stream: &TcpStream, address: SocketAddr) -> Result<SocketAddr, Refusal> {
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let peer = plain(address);
    // Of a client on another machine the system knows no user: there the token decides.
    if !peer.ip().is_loopback() || app.deps.team.is_some() {
        return Ok(peer);
    }
    let near = plain(stream.local_addr().map_err(|_| Refusal::UnknownUser)?);
    let peer_owner = app.config.peer_owner;
    let owner = tokio::task::spawn_blocking(move || peer_owner(peer, near)).await;
    match owner.map_err(|_| Refusal::UnknownUser)? {
        Some(PeerUser::Same) => Ok(peer),
        Some(PeerUser::Another) => Err(Refusal::Stranger),
        Some(PeerUser::Unavailable) => Err(Refusal::UnknownUser),
        // Linux knows the user of every client that can read an answer. Other systems never say.
        None if cfg!(target_os = "linux") => Err(Refusal::Stranger),
        None => Ok(peer),
    }
}

/// Answers a refused connection without reading its request, and ends it.
fn refuse(stream: TcpStream, refusal: Refusal, room: &Arc<Semaphore>) {
    // Beyond a few at once they are not even answered.
    let Ok(permit) = Arc::clone(room).try_acquire_owned() else { return };
    tokio::spawn(async move {
        let answer = refusal.bytes();
        let answering = async {
            stream.writable().await?;
            stream.try_write(&answer)?;
            let socket = stream.into_std()?;
            socket.shutdown(Shutdown::Write)?;
            let stream = TcpStream::from_std(socket)?;
            // What the client sends is read: closing before would take the answer away from it.
            let mut rest = [0; 4096];
            loop {
                stream.readable().await?;
                match stream.try_read(&mut rest) {
                    Ok(0) => return Ok(()),
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
        };
        // The outcome does not matter: the connection ends either way.
        drop::<Result<io::Result<()>, _>>(tokio::time::timeout(REFUSAL_TIME, answering).await);
        drop(permit);
    });
}

impl Refusal {
    /// Returns the answer as it goes over the wire.
    fn bytes(self) -> Vec<u8> {
        let (status, retry, text) = match self {
            Self::Stranger => (
                StatusCode::FORBIDDEN,
                "",
                "this connection does not belong to the user that runs this server",
            ),
            Self::UnknownUser => (
                StatusCode::SERVICE_UNAVAILABLE,
                "retry-after: 5\r\n",
                "cannot look up the user of this connection\nhint: the server may be out of file handles; try again",
            ),
        };
        let body = serde_json::to_vec(&Problem::new(status, text)).unwrap_or_default();
        let mut answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\ncache-control: no-store\r\n\
             {retry}content-length: {}\r\nconnection: close\r\n",
            body.len()
        )
        .into_bytes();
        let mut headers = HeaderMap::new();
        add_headers(&mut headers);
        for (name, value) in &headers {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                answer.extend_from_slice(part);
            }
        }
        answer.extend_from_slice(b"\r\n");
        answer.extend_from_slice(&body);
        answer
    }
}

/// Serves one connection in a task of its own.
fn connection(
    app: &Arc<App>,
    router: &Router,
    graceful: &GracefulShutdown,
    stream: TcpStream,
    address: SocketAddr,
    slot: ConnectionSlot,
) {
    // Small answers should not wait for more of them. Without it everything still works, only later.
    drop(stream.set_nodelay(true));
    let inner = TowerToHyperService::new(router.clone());
    let limits = app.config.limits;
    let watcher = graceful.watcher();
    tokio::spawn(async move {
        let slot = Arc::new(slot);
        let peer = Peer { address };
        let stream = HalfOpen::new(stream, address, Arc::clone(&slot));
        let requests = Arc::clone(&slot);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let guard = requests.begin();
            request.extensions_mut().insert(peer);
            let answered = hyper::service::Service::call(&inner, request);
            async move { answered.await.map(|response| guard.until_sent(response)) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_time)
            // The library panics below 8 KiB.
            .max_buf_size(limits.header_bytes.max(8192))
            .max_headers(HEADERS)
            // The library cannot tell a client that only ended its sending from one that is gone; `HalfOpen` can.
            .half_close(false)
            .serve_connection(TokioIo::new(stream), service);
        // An error of the connection concerns only its client.
        tokio::select! {
            _ = watcher.watch(connection) => {}
            () = slot.ended() => {}
        }
    });
}

/// Draws a token, for a server that is set up without a file.
pub fn draw_token() -> Result<String, ServeError> {
    random().map_err(|error| ServeError::System(io::Error::other(error)))
}
