//! Which checksums a writer adds beyond those that a format has of itself.

/// Which checksums a writer adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checksums {
    /// None.
    None,
    /// One of the whole container: damage is noticed.
    #[default]
    Body,
    /// One of each chunk as well: damage is noticed, and the chunk is named. A container whose
    /// chunks are files of their own has one of each file for [`Body`](Self::Body), too.
    Chunks,
}
