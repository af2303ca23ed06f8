//! Frames that an append grows in place: a signal must undo the growth.

use std::{
    io::{self, Read as _},
    path::Path,
};

use crate::output::Unfinished;

/// Lists a frame that the caller has locked and grows. A signal cuts the new chunks off, unless a
/// commit has made them part of the frame.
pub(crate) fn grow(unfinished: &Unfinished, path: &Path) {
    if let Ok(metadata) = path.metadata()
        && metadata.is_file()
    {
        let (frame, len) = (path.to_owned(), metadata.len());
        unfinished.change(path, move || {
            let _cut = cut_off(&frame, len);
        });
    }
}

/// Cuts a frame back to `len` bytes, unless its header counts more.
fn cut_off(path: &Path, len: u64) -> io::Result<()> {
    let mut file = std::fs::File::options().read(true).write(true).open(path)?;
    let mut head = vec![];
    io::Read::take(&mut file, 256).read_to_end(&mut head)?;
    let is_all =
        b2frame::header::FrameHeader::parse(&head).is_ok_and(|header| header.frame_len() <= len);
    if is_all && file.metadata()?.len() > len { file.set_len(len) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_frame_is_cut_back_unless_it_has_grown_for_good() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.b2frame");
        let frame = b2frame::to_cframe(&[7; 1000], &b2frame::FrameParams::default()).unwrap();
        std::fs::write(&path, [&frame[..], &[1; 500]].concat()).unwrap();
        let len = frame.len() as u64;
        cut_off(&path, len).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), frame);
        // The header counts more bytes, as after a commit.
        cut_off(&path, len - 1).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), frame);
        for is_settled in [false, true] {
            let unfinished = Unfinished::default();
            grow(&unfinished, &path);
            std::fs::write(&path, [&frame[..], &[1; 500]].concat()).unwrap();
            if is_settled {
                unfinished.settle(&path, || ());
            }
            unfinished.abandon(|| ());
            assert_eq!(std::fs::read(&path).unwrap().len() > frame.len(), is_settled);
        }
    }
}
