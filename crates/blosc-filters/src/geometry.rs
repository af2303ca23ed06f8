//! The shape of a block of an n-dimensional array, for the filters that work on cells.

/// The shape of one block in items, slowest dimension first.
///
/// It is taken as given, for example from the `b2nd` metalayer. The filters that use it check it
/// against the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockGeometry<'a> {
    blockshape: &'a [u32],
}

impl<'a> BlockGeometry<'a> {
    /// A block of this shape, in items.
    #[must_use]
    pub const fn new(blockshape: &'a [u32]) -> Self {
        Self { blockshape }
    }

    /// Items per dimension.
    #[must_use]
    pub const fn blockshape(&self) -> &'a [u32] {
        self.blockshape
    }
}
