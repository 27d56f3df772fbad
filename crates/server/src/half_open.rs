//! A connection with a client that may end its sending and still read the answer (`nc -N`, `shutdown(SHUT_WR)`).
//!
//! On the wire such a client looks like one that is gone. On Linux the system can tell them apart over loopback: the
//! socket of a client that still reads belongs to a process. While a request is being answered the end of sending is
//! held back as long as that is so, and looked at again every second; so work for a client that is really gone still
//! ends at once. Everywhere else the end of sending is the end of the connection.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::connection_slots::ConnectionSlot;
use crate::security::is_held;

/// The interval of checking that a client that ended its sending still reads.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection with the slot that it has.
pub(crate) struct HalfOpen {
    stream: TcpStream,
    slot: Arc<ConnectionSlot>,
    /// Both ends of a connection of this machine.
    ends: Option<(SocketAddr, SocketAddr)>,
    /// The next check, once the client ended its sending.
    again: Option<Pin<Box<Sleep>>>,
}

impl HalfOpen {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, slot: Arc<ConnectionSlot>) -> Self {
        let near = stream.local_addr().ok();
        let near = near.map(|near| SocketAddr::new(near.ip().to_canonical(), near.port()));
        let ends = near.filter(|_| peer.ip().is_loopback()).map(|near| (peer, near));
        Self { stream, slot, ends, again: None }
    }

    /// Returns whether the client reads although it ended its sending.
    fn is_awaited(&self) -> bool {
        self.slot.is_answering() && self.ends.is_some_and(|(peer, near)| is_held(peer, near))
    }
}

impl AsyncRead for HalfOpen {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(again) = &mut this.again
            && this.slot.is_answering()
            && again.as_mut().poll(context).is_pending()
        {
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let ended = matches!(read, Poll::Ready(Ok(()))) && buffer.filled().len() == before;
        if !ended || buffer.remaining() == 0 || !this.is_awaited() {
            return read;
        }
        let mut again = Box::pin(tokio::time::sleep_until(Instant::now() + PAUSE));
        // Polled at once, which registers the wake-up.
        let waits = again.as_mut().poll(context);
        this.again = Some(again);
        waits.map(Ok)
    }
}

impl AsyncWrite for HalfOpen {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
