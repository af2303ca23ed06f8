//! Tables of flatbuffers, as far as Arrow's messages need them.

/// A table in a flatbuffer. Reads outside of the bytes return `None`.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    /// The root table of a flatbuffer.
    pub(super) fn root(bytes: &'a [u8]) -> Option<Self> {
        Self { bytes, at: 0 }.followed(0)
    }

    fn raw<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    fn length(&self, at: usize) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.raw(at)?)).ok()
    }

    /// The table to which the number at a position points.
    fn followed(&self, at: usize) -> Option<Self> {
        Some(Self { bytes: self.bytes, at: at.checked_add(self.length(at)?)? })
    }

    /// The position of a field; `None` if the field has its default.
    fn field(&self, n: usize) -> Option<usize> {
        let back = i64::from(i32::from_le_bytes(self.raw(self.at)?));
        let slots = usize::try_from(i64::try_from(self.at).ok()?.checked_sub(back)?).ok()?;
        let len = usize::from(u16::from_le_bytes(self.raw(slots)?));
        let slot = n.checked_mul(2)?.checked_add(4)?;
        if slot.checked_add(2)? > len {
            return None;
        }
        let within = usize::from(u16::from_le_bytes(self.raw(slots.checked_add(slot)?)?));
        (within > 0).then(|| self.at.checked_add(within)).flatten()
    }

    /// The bytes of a number.
    pub(super) fn number<const N: usize>(&self, n: usize) -> Option<[u8; N]> {
        self.raw(self.field(n)?)
    }

    /// A number of one byte.
    pub(super) fn byte(&self, n: usize) -> Option<u8> {
        self.number(n).map(|[byte]| byte)
    }

    /// A table.
    pub(super) fn table(&self, n: usize) -> Option<Self> {
        self.followed(self.field(n)?)
    }

    /// The position of a vector's elements, and their number.
    fn vector(&self, n: usize) -> Option<(usize, usize)> {
        let at = self.table(n)?.at;
        Some((at.checked_add(4)?, self.length(at)?))
    }

    /// Text.
    pub(super) fn text(&self, n: usize) -> Option<&'a str> {
        let (start, len) = self.vector(n)?;
        core::str::from_utf8(self.bytes.get(start..start.checked_add(len)?)?).ok()
    }

    /// A vector of tables.
    pub(super) fn tables(&self, n: usize) -> Option<impl Iterator<Item = Self> + use<'a>> {
        let (start, len) = self.vector(n)?;
        let (table, end) = (*self, start.checked_add(len.checked_mul(4)?)?);
        self.bytes.get(start..end)?;
        Some((start..end).step_by(4).map_while(move |at| table.followed(at)))
    }

    /// A vector of structs of 16 bytes.
    pub(super) fn structs(&self, n: usize) -> Option<&'a [[u8; 16]]> {
        let (start, len) = self.vector(n)?;
        let bytes = self.bytes.get(start..start.checked_add(len.checked_mul(16)?)?)?;
        Some(bytes.as_chunks().0)
    }
}
