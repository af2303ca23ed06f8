//! The hints of errors.

use std::{io, path::Path};

use b2_program::{Code, error::FileKind};
use b2frame::{error::Corrupt, probe::Kind};
use blosc_data::error::{BcolzLack, Refusal};

use super::{CsvError, Doing, Error, cut_off, message::OTHER_TYPES};

impl Error {
    /// Advice on a missing file whose name looks like that of a value.
    pub(crate) fn hint_on_key(&self, file: &str) -> Option<&'static str> {
        let is_missing =
            matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        let has_key = file.split_once("::").is_some_and(|(before, _)| Path::new(before).exists());
        let hint = "STORE::/KEY names a value in a store: `b2 list --tree FILE` shows the keys";
        (is_missing && has_key).then_some(hint)
    }

    /// Advice on faults that the program found.
    pub(super) fn own_hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Message { message, .. } => return message.hint,
            Self::Damaged(error) if matches!(**error, Self::Message { .. }) => {
                return error.own_hint();
            }
            Self::Damaged(error) if matches!(**error, Self::PerhapsChunk { .. }) => {
                "`b2 rescue FILE -o NEW` saves what can be read"
            }
            Self::Io { doing: Doing::Spool, source, .. } if blosc_io::is_missing(source) => {
                "set TMPDIR to a folder that is there"
            }
            Self::Npy(_) => "`b2 compress --format b2frame FILE` keeps the bytes as they are",
            Self::Exists { .. } => "use -f to overwrite, or -o to choose another name",
            Self::NotRegular { kind: FileKind::Directory, .. } => "use -r to walk directories",
            Self::NotRegular { .. } => "use -f if this is meant",
            Self::PerhapsChunk { .. } => "FILE@0 reads it as a chunk",
            // Larger sizes are probably those of a row, not of an item.
            Self::PartItem { of: 2..=16, .. } => {
                "a frame of bytes may end anywhere: `b2 cat FILE | b2 c -t 1 -o NEW`"
            }
            Self::OneForMany { .. } => "use --output-dir, or -c for one stream",
            Self::NoFolder { .. } => "`mkdir -p` makes it",
            Self::Edited { .. } => {
                "your text is kept there: correct it, and use `b2 meta import FILE THAT`"
            }
            Self::Twice { .. } => {
                "two inputs give this name: run each by itself, with an -o of its own"
            }
            Self::Same { .. } => "use -o to choose another name",
            Self::ShowLess { .. } => "use --slice or -n to choose a part, or -M to allow more",
            Self::NoType { .. } => {
                "--dtype gives raw data a type, --from csv reads text in columns"
            }
            Self::Locked(_) => "use --lock-timeout to wait longer",
            Self::MaxMemory { .. } => "use -M to allow more, or -T to use fewer threads",
            Self::ReadBack { .. } => {
                "the input is untouched; this is a defect of the program or of the machine"
            }
            _ => return None,
        })
    }

    /// Advice on faults that a library found.
    pub(super) fn library_hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Data(error) => match &**error {
                blosc_data::Error::Refused(refusal) => of_refusal(refusal)?,
                _ => return None,
            },
            Self::Csv(CsvError::Value { .. }) => OTHER_TYPES,
            Self::Csv(CsvError::NotText { .. }) => {
                "`iconv -f latin1 -t utf-8 FILE > NEW` converts it to UTF-8"
            }
            Self::Blp(bloscpack::Error::Param(
                bloscpack::error::Param::NotEnoughSpace { .. }
                | bloscpack::error::Param::NotAppendable { .. }
                | bloscpack::error::Param::MetadataRoom { .. },
            )) => "`b2 convert` to another .blp file makes room",
            // Nothing can be saved of a frame without its header.
            Self::Frame(b2frame::Error::Corrupt {
                what: Corrupt::HeaderTruncated { .. }, ..
            }) => return None,
            Self::Frame(error) if cut_off(error).is_some() => {
                "`b2 rescue FILE -o NEW` saves what is there"
            }
            Self::Frame(
                b2frame::Error::Chunk { .. }
                | b2frame::Error::Corrupt {
                    what: Corrupt::BodySum | Corrupt::ChunkSum { .. }, ..
                },
            )
            | Self::Blp(bloscpack::Error::Chunk { .. })
                if self.code() == Code::Data =>
            {
                "`b2 rescue FILE -o NEW` saves the rest"
            }
            Self::Frame(b2frame::Error::Limit { .. })
            | Self::Blp(bloscpack::Error::Limit { .. }) => {
                "use -M to allow more, or -T to use fewer threads"
            }
            Self::Frame(b2frame::Error::Sparse) => {
                "this is the index of a sparse frame: name its directory"
            }
            Self::Frame(b2frame::Error::Param(b2frame::error::Param::OlderLayout { .. })) => {
                "`b2 convert` makes a frame of the current layout"
            }
            Self::Frame(b2frame::Error::Param(b2frame::error::Param::NotLast {
                kind: Kind::Frame,
                ..
            })) => "if frames follow, `b2 repack` merges them",
            Self::Frame(b2frame::Error::Param(b2frame::error::Param::NotLast { .. }))
            | Self::Blp(bloscpack::Error::Param(bloscpack::error::Param::NotLast { .. })) => {
                "`b2 split FILE` writes what it holds to files of their own"
            }
            Self::Bcolz(bcolz_store::Error::Corrupt {
                what: bcolz_store::error::Corrupt::Checksum { .. },
                ..
            }) => "if a program without checksums changed it, use --no-check",
            Self::Store(b2store::Error::Param(b2store::error::Param::Outside { .. })) => {
                "`b2 convert STORE NEW.b2z` makes a store without them"
            }
            Self::Store(b2store::Error::Frame { .. }) if self.code() == Code::Data => {
                "`b2 rescue STORE -o NEW` saves what can be read"
            }
            Self::Store(
                b2store::Error::Zip(_)
                | b2store::Error::NotAStore { .. }
                | b2store::Error::Corrupt { .. },
            ) => "`b2 rescue STORE -o NEW` saves what can be read",
            Self::Frame(b2frame::Error::Locked { .. })
            | Self::Bcolz(bcolz_store::Error::Locked { .. }) => "use --lock-timeout to wait longer",
            _ => return None,
        })
    }
}

/// Advice for data that the library refuses to convert.
const fn of_refusal(refusal: &Refusal) -> Option<&'static str> {
    Some(match refusal {
        Refusal::ObjectsStayWhole(_) => "--columns leaves columns out",
        Refusal::PythonObjects => "`b2 show` shows what is plain data",
        Refusal::UnknownItems => "use --dtype, and --shape for more than one dimension",
        Refusal::IsForArrays(_) => "use --dtype and --shape",
        Refusal::FormatWithoutShape(_) => "use --format b2nd",
        Refusal::IsForTwoDimensions(_) => "use --shape, or another codec",
        Refusal::NoNpyType(_) => "use --format raw",
        Refusal::RowsOfTable => "use --chunks N and --blocks N",
        Refusal::ExtraColumn(_) => {
            "`b2 table add` makes one, `b2 convert --columns NAME,NAME` leaves some out"
        }
        Refusal::TextTooLong(_) => OTHER_TYPES,
        Refusal::NotInBcolz(lack) => match lack {
            BcolzLack::Deletion => {
                "`b2 convert --where 'not (CONDITION)' TABLE NEW.bcolz` makes one without some"
            }
            BcolzLack::DeletedRows => "`b2 recompress` writes it anew",
            BcolzLack::NullColumn => "give the new column a value: COLUMN:TYPE=VALUE",
            BcolzLack::NullCell => {
                "`b2 table set TABLE COLUMN=VALUE --where 'COLUMN != COLUMN'` sets what is NaN"
            }
            _ => return None,
        },
        _ => return None,
    })
}
