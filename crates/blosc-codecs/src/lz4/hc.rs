//! The thorough searches: [`quick`] for levels 1 and 2, [`chains`] and [`plan`] for the others.

mod chains;
mod plan;
mod quick;

use alloc::boxed::Box;

use chains::Chains;
use plan::Plan;
use quick::Quick;

use super::{MAX_INPUT, Window, sequence::Block};
use crate::{BlockEncoder, Error, Level};

/// Compresses blocks thoroughly; keeps its tables and dictionary between them.
pub struct HcEncoder {
    method: Method,
    window: Window,
}

enum Method {
    Quick(Quick),
    Planned(Box<Chains>, Plan),
}

impl HcEncoder {
    /// An encoder of this effort. Of the dictionary, the last 64 KiB count.
    pub fn new(level: Level, dict: &[u8]) -> Self {
        let method = match level.effort() {
            1 | 2 => Method::Quick(Quick::new()),
            // Twice the places with each level, as many as the original encoder looks at in its one chain.
            effort => Method::Planned(Box::new(Chains::new(1 << (effort - 2))), Plan::default()),
        };
        Self { method, window: Window::new(dict) }
    }

    /// Compresses `src` to the start of `dest`; the length of the block, or `None` when it does not fit.
    pub fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        let (window, start) = self.window.with(src);
        let mut block = Block::new(window, dest);
        let anchor = match &mut self.method {
            Method::Quick(quick) => quick.run(window, start, &mut block)?,
            Method::Planned(chains, plan) => plan.run(chains.start(window, start)?, start, &mut block)?,
        };
        block.finish(anchor)
    }
}

impl BlockEncoder for HcEncoder {
    fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>, Error> {
        Ok(self.compress(src, dest))
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

    /// Lets the match begin earlier, down to `low`, where the bytes agree.
    #[inline(always)]
    fn widen(mut self, window: &[u8], low: usize) -> Self {
        let low = low.max(self.distance);
        while self.start > low && window[self.start - 1] == window[self.start - 1 - self.distance] {
            self.start -= 1;
            self.len += 1;
        }
        self
    }
}
