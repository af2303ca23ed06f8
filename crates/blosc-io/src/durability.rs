//! The kinds of failure that a finished change of a container survives.

/// The kind of failure that a change survives once the call that makes it durable has returned. A
/// container may keep more than it promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// A loss of power: everything is written through to the medium.
    #[default]
    PowerLoss,
    /// The death of the process: changes are made in an order that leaves the old state or the new
    /// one, and the operating system writes them to the medium when it chooses.
    ProcessDeath,
    /// No failure: a process that dies may leave half a change.
    None,
}

impl Durability {
    /// Whether to sync content and names.
    #[must_use]
    pub const fn needs_sync(self) -> bool {
        matches!(self, Self::PowerLoss)
    }
}
