//! Adapts pushed content to a `Read`: a thread decodes, and a bounded channel limits it.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use crate::content::{Sink, SinkError};

/// Pieces that the channel holds.
const PIECES: usize = 2;

/// Runs `decode` in a thread, and gives `work` a reader of its output.
///
/// # Errors
///
/// The error of `decode`, else that of `work`.
pub fn pull<E: SinkError + Send>(
    decode: impl FnOnce(Sink<'_, E>) -> Result<(), E> + Send,
    work: impl FnOnce(&mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<u8>>(PIECES);
        let decoding = scope.spawn(move || {
            decode(&mut |bytes| {
                // The channel closes when `work` fails; the error of `work` then counts.
                let _unheard = sender.send(bytes.to_vec());
                Ok(())
            })
        });
        let mut pieces = Pieces { receiver, piece: vec![], at: 0 };
        let done = work(&mut pieces);
        drop(pieces);
        let decoded = decoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The reader sees an error of `decode` as an early end, so that error comes first.
        decoded.and(done)
    })
}

/// The pieces from a channel, as a stream.
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
