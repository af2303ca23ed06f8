//! Adapts content that is pushed into a sink to a `Read`: a thread decodes, a channel bounds it.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use crate::content::{Sink, SinkError};

/// Pieces under way from the one thread to the other.
const PIECES: usize = 2;

/// Hands `work` a reader of what `decode` gives, which runs in a thread of its own.
///
/// # Errors
///
/// The error of `decode`, or else of `work`.
pub fn pull<E: SinkError + Send>(
    decode: impl FnOnce(Sink<'_, E>) -> Result<(), E> + Send,
    work: impl FnOnce(&mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<u8>>(PIECES);
        let decoding = scope.spawn(move || {
            decode(&mut |bytes| {
                // The channel is closed when `work` has failed, whose error counts then.
                let _unheard = sender.send(bytes.to_vec());
                Ok(())
            })
        });
        let mut pieces = Pieces { receiver, piece: vec![], at: 0 };
        let done = work(&mut pieces);
        drop(pieces);
        let decoded = decoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The reader sees the first failure as an early end.
        decoded.and(done)
    })
}

/// The pieces that come through a channel, as a stream.
struct Pieces {
    receiver: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            match self.receiver.recv() {
                Ok(piece) => (self.piece, self.at) = (piece, 0),
                Err(_) => return Ok(0),
            }
        }
        let len = buf.len().min(self.piece.len() - self.at);
        buf[..len].copy_from_slice(&self.piece[self.at..][..len]);
        self.at += len;
        Ok(len)
    }
}
