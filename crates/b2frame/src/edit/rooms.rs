//! Rooms of chunks in a contiguous frame that no reader has seen yet: another chunk may take the
//! place of such a one, so that a part that is written again and again takes no more room each
//! time.

use std::collections::{BTreeSet, HashMap, HashSet};

/// A chunk that has outgrown its room gets its length divided by this as slack.
const OUTGROWN_SLACK: usize = 8;

/// A stretch of the frame: its length and its position (bytes).
pub(super) type Room = (u64, u64);

/// Where a chunk can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Over the chunk that it replaces, which is at this position.
    Same(u64),
    /// To a room that nothing refers to.
    Free(Room),
    /// To the end, with slack after it (bytes).
    End { slack: usize },
}

/// The rooms since the last commit.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    /// Of chunks that were written: position and length (bytes).
    fresh: HashMap<u64, u64>,
    /// Those that nothing refers to any more.
    free: BTreeSet<Room>,
    /// Those that become free once the index refers to other ones.
    outgrown: Vec<Room>,
    /// Positions over which a write has failed, so that the chunk is neither the old nor the new.
    torn: HashSet<u64>,
}

impl Rooms {
    /// Where a chunk of `nbytes` bytes goes that replaces the one at `old`.
    pub(super) fn find(&self, old: Option<u64>, nbytes: usize) -> Fit {
        let old = old.and_then(|at| self.room_at(at));
        if let Some((room, at)) = old
            && nbytes as u64 <= room
        {
            return Fit::Same(at);
        }
        match self.free.range((nbytes as u64, 0)..).next() {
            Some(room) => Fit::Free(*room),
            // It has grown before, and will again.
            None => Fit::End { slack: if old.is_some() { nbytes / OUTGROWN_SLACK } else { 0 } },
        }
    }

    /// Notes that a chunk which replaces the one at `old` is in another room now.
    pub(super) fn note(&mut self, old: Option<u64>, (len, at): Room) {
        self.free.remove(&(len, at));
        self.outgrown.extend(old.and_then(|at| self.room_at(at)));
        self.fresh.insert(at, len);
    }

    fn room_at(&self, at: u64) -> Option<Room> {
        self.fresh.get(&at).map(|len| (*len, at))
    }

    /// Notes that a write over the chunk at a position begins.
    pub(super) fn tear(&mut self, at: u64) {
        self.torn.insert(at);
    }

    /// Notes that the chunk at a position is whole.
    pub(super) fn mend(&mut self, at: u64) {
        self.torn.remove(&at);
    }

    /// Positions of chunks that are a mixture of two.
    pub(super) fn torn(&self) -> impl Iterator<Item = u64> {
        self.torn.iter().copied()
    }

    /// Notes whether the index refers to the chunks that were written, so that the rooms which they
    /// have outgrown are free.
    pub(super) fn leave_outgrown(&mut self, are_free: bool) {
        for (len, at) in self.outgrown.drain(..) {
            if are_free {
                self.fresh.remove(&at);
                self.free.insert((len, at));
            }
        }
    }

    /// From now on no chunk may be overwritten: readers may see all of them.
    pub(super) fn settle(&mut self) {
        self.fresh.clear();
        self.free.clear();
        self.outgrown.clear();
        self.torn.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_goes_over_its_own_then_to_a_free_room_then_to_the_end() {
        let mut rooms = Rooms::default();
        assert_eq!(rooms.find(Some(7), 64), Fit::End { slack: 0 });
        rooms.note(Some(7), (64, 100));
        assert_eq!(rooms.find(Some(100), 64), Fit::Same(100));
        assert_eq!(rooms.find(Some(100), 80), Fit::End { slack: 10 });
        rooms.note(Some(100), (90, 200));
        assert_eq!(rooms.find(None, 8), Fit::End { slack: 0 });
        rooms.leave_outgrown(true);
        assert_eq!(rooms.find(None, 8), Fit::Free((64, 100)));
        rooms.note(None, (64, 100));
        assert_eq!(rooms.find(Some(100), 8), Fit::Same(100));
        rooms.settle();
        assert_eq!(rooms.find(Some(100), 8), Fit::End { slack: 0 });
    }

    #[test]
    fn a_room_stays_taken_if_the_index_still_refers_to_it() {
        let mut rooms = Rooms::default();
        rooms.note(None, (64, 100));
        rooms.note(Some(100), (90, 200));
        rooms.leave_outgrown(false);
        assert_eq!(rooms.find(Some(100), 64), Fit::Same(100));
        rooms.tear(200);
        assert_eq!(rooms.torn().collect::<Vec<_>>(), [200]);
        rooms.mend(200);
        assert_eq!(rooms.torn().count(), 0);
    }
}
