//! Rooms of new chunks in a contiguous frame. No reader has seen them, so other chunks may
//! overwrite them: a part that is written again and again does not make the file longer each time.

use std::collections::{BTreeSet, HashMap, HashSet};

/// A chunk that has outgrown its room gets slack: its length divided by this.
const OUTGROWN_SLACK: usize = 8;

/// A stretch of the frame: its length and its position (bytes).
pub(super) type Room = (u64, u64);

/// The destination of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The position of the chunk that it replaces.
    Same(u64),
    /// A room that nothing refers to.
    Free(Room),
    /// The end, with slack after the chunk (bytes).
    End { slack: usize },
}

/// The rooms since the last commit.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    /// Position and length of each new chunk (bytes).
    fresh: HashMap<u64, u64>,
    /// Rooms that nothing refers to any more.
    free: BTreeSet<Room>,
    /// Rooms that become free once the index refers to other rooms.
    outgrown: Vec<Room>,
    /// Positions where a write over a chunk has failed: the chunk is a mixture of two.
    torn: HashSet<u64>,
}

impl Rooms {
    /// Finds the room of a chunk of `nbytes` bytes that replaces the one at `old`.
    pub(super) fn find(&self, old: Option<u64>, nbytes: usize) -> Fit {
        let old = old.and_then(|at| self.room_at(at));
        if let Some((room, at)) = old
            && nbytes as u64 <= room
        {
            return Fit::Same(at);
        }
        match self.free.range((nbytes as u64, 0)..).next() {
            Some(room) => Fit::Free(*room),
            // The chunk has grown before, and will again.
            None => Fit::End { slack: if old.is_some() { nbytes / OUTGROWN_SLACK } else { 0 } },
        }
    }

    /// Notes the new room of a chunk that replaces the one at `old`.
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

    /// Notes whether the index refers to the chunks that were written. If so, the rooms that they
    /// have outgrown are free.
    pub(super) fn leave_outgrown(&mut self, are_free: bool) {
        for (len, at) in self.outgrown.drain(..) {
            if are_free {
                self.fresh.remove(&at);
                self.free.insert((len, at));
            }
        }
    }

    /// From now on all chunks stay as they are: readers may see them.
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
