//! Rows at the end of a `.npy` file: the items first, then the header, whose padding leaves room
//! for a longer shape. Until the header is written, readers see the old array, followed by bytes.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::Appending;
use crate::content::Content;
use crate::error::{Doing, Error, Result};

impl Appending<'_> {
    /// Writes the items of the contents from byte `end` of a `.npy` file on, then a header as long
    /// as the old one. After a failure the file is unchanged.
    ///
    /// # Errors
    ///
    /// When the content cannot be read, or the system refuses.
    pub fn to_npy<'c>(
        &self,
        path: &Path,
        (end, header): (u64, &[u8]),
        contents: impl Iterator<Item = &'c Content>,
    ) -> Result<()> {
        let file = File::options().read(true).write(true).open(path);
        let mut file = file.map_err(Error::io(Doing::Open))?;
        let mut old_header = vec![0; header.len()];
        file.read_exact(&mut old_header).map_err(Error::io(Doing::Read))?;
        let written =
            self.npy_items(&mut file, end, contents).and_then(|()| write_header(&mut file, header));
        if written.is_err() {
            let _as_it_was = write_header(&mut file, &old_header);
            let _as_long = file.set_len(end);
        }
        written
    }

    fn npy_items<'c>(
        &self,
        file: &mut File,
        end: u64,
        mut contents: impl Iterator<Item = &'c Content>,
    ) -> Result<()> {
        file.seek(SeekFrom::Start(end)).map_err(Error::io(Doing::Write))?;
        let (decoding, budget) = (self.resources.decoding(), self.resources.held() / 4);
        contents.try_for_each(|content| {
            content.in_c_order(&decoding, budget, &mut |bytes| {
                (self.progress)(bytes.len() as u64);
                file.write_all(bytes).map_err(Error::io(Doing::Write))
            })
        })?;
        file.sync_data().map_err(Error::io(Doing::Write))
    }
}

fn write_header(file: &mut File, header: &[u8]) -> Result<()> {
    file.rewind()
        .and_then(|()| file.write_all(header))
        .and_then(|()| file.sync_data())
        .map_err(Error::io(Doing::Write))
}
