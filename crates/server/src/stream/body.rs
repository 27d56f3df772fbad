//! A body that another task writes, a bounded number of pieces ahead.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::mpsc;

/// The most pieces that wait for the network.
const AHEAD: usize = 16;

struct ReceiverBody(mpsc::Receiver<Bytes>);

impl HttpBody for ReceiverBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// Returns a body that `write` fills in a task of its own. It ends when the task does; the sender is closed when the client leaves.
pub(super) fn written_by<W>(write: impl FnOnce(mpsc::Sender<Bytes>) -> W) -> Body
where
    W: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(write(sender));
    Body::new(ReceiverBody(receiver))
}
