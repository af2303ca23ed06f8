//! The thorough searches: [`quick`] for levels 1 and 2, [`chains`] and [`lazy`] for the others.

mod chains;
mod lazy;
mod quick;

use chains::Chains;
use quick::Quick;

use super::{MAX_INPUT, Window, sequence::Block};
use crate::{Error, Level, StreamEncoder, lz::common_len_before};

/// Compresses blocks thoroughly; keeps its tables and dictionary between them.
pub struct HcEncoder {
    method: Method,
    window: Window,
}

enum Method {
    Quick(Quick),
    Lazy(Chains),
}

impl HcEncoder {
    /// An encoder of this effort. Of the dictionary, the last 64 KiB count.
    pub fn new(level: Level, dict: &[u8]) -> Self {
        let method = match level.effort() {
            1 | 2 => Method::Quick(Quick::new()),
            // Twice the places with each level, as many as the original encoder looks at.
            effort => Method::Lazy(Chains::new(1 << (effort - 1))),
        };
        Self { method, window: Window::new(dict) }
    }

    /// Compresses `src` to the start of `dest`; the length of the block, or `None` when it does not
    /// fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (window, start) = self.window.with(src);
        let mut block = Block::new(window, dest);
        let anchor = match &mut self.method {
            Method::Quick(quick) => quick.run(window, start, &mut block)?,
            Method::Lazy(chains) => lazy::run(chains.start(window)?, start, &mut block)?,
        };
        block.finish(anchor)
    }
}

impl StreamEncoder for HcEncoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
    }

    fn depends_on_room(&self) -> bool {
        false
    }
}

/// A match: where it starts, how far back its bytes are, how many.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    distance: usize,
    len: usize,
}

impl Match {
    /// No match, at a place.
    const fn none(start: usize) -> Self {
        Self { start, distance: 0, len: 0 }
    }

    fn is_some(&self) -> bool {
        self.distance > 0
    }

    fn end(&self) -> usize {
        self.start + self.len
    }

    /// Lets the match end at `end`, if that is earlier.
    fn end_at(&mut self, end: usize) {
        self.len = self.len.min(end - self.start);
    }

    /// Lets the match begin at `start`, if that is later.
    fn begin_at(&mut self, start: usize) {
        let less = start.saturating_sub(self.start);
        self.start += less;
        self.len = self.len.saturating_sub(less);
    }

    /// Lets the match begin earlier, down to `low`, where the bytes agree.
    #[inline(always)]
    fn widen(self, window: &[u8], low: usize) -> Self {
        let more = common_len_before(
            window,
            self.start - self.distance,
            self.start,
            low.max(self.distance),
        );
        Self { start: self.start - more, len: self.len + more, ..self }
    }
}
