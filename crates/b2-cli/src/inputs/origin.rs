//! The inputs that the command line, lists and directories name.

use std::{io, path::Path};

use b2_program::input;
use b2frame::{probe, probe::Kind};

pub(crate) use blosc_data::Part;
use blosc_data::{Format, Opened, Openers, Source, Word};

use crate::{
    args::InputArgs,
    error::{Doing, Error, FileKind, Result, message},
    exit::Code,
    formats::chunk,
    inputs::{
        Place, foreign,
        piped::Piped,
        walk::{Choice, Inputs},
    },
    output::targets::SUFFIXES,
    render::{harmless, path_text},
};

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Standard input.
    Stdin,
    /// A file, or a part of it.
    File {
        /// The path.
        path: Place,
        /// The frames or the member of it.
        part: Part,
    },
    /// An object that an [`Opener`] has opened.
    Opened(OpenedInput),
}

/// An input that an [`Opener`] has opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenedInput {
    /// The name on the command line.
    pub(crate) name: String,
    /// The opened object.
    pub(crate) opened: Opened,
}

impl PartialEq for OpenedInput {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OpenedInput {}

impl Origin {
    /// The path; `None` for standard input and opened inputs.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.place().map(|place| &**place)
    }

    /// The path of a file or a folder that can be changed, replaced or removed; `None` for inputs
    /// from a pipe and opened ones.
    pub(crate) fn changeable(&self) -> Option<&Place> {
        self.place().filter(|place| place.word().is_none())
    }

    /// The place of an input that a command changes.
    ///
    /// # Errors
    ///
    /// Data from a pipe, and opened inputs.
    pub(crate) fn to_change(&self) -> Result<&Place> {
        self.changeable().ok_or_else(|| message::PIPE_IS_NOT_CHANGED.error())
    }

    /// The place; `None` for standard input.
    pub(crate) fn place(&self) -> Option<&Place> {
        match self {
            Self::Stdin | Self::Opened(_) => None,
            Self::File { path, .. } => Some(path),
        }
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::Opened(OpenedInput { name, .. }) => match name.strip_prefix('-') {
                Some(key) if key.is_empty() || key.starts_with("::") => {
                    format!("stdin{}", harmless(key))
                }
                _ => harmless(name),
            },
            Self::File { path, part } => {
                let path = path.shown();
                match part {
                    Part::Whole => path,
                    Part::Offset(at) => format!("{path}@{at}"),
                    Part::Nth(n) => format!("{path}#{n}"),
                    Part::Member(key) => format!("{path}::{}", harmless(key)),
                }
            }
        }
    }

    /// The name with its bytes in the file system.
    pub(crate) fn name_bytes(&self) -> Vec<u8> {
        match self {
            Self::File { path, part: Part::Whole } if path.word().is_none() => {
                path.as_os_str().as_encoded_bytes().to_vec()
            }
            _ => self.name().into_bytes(),
        }
    }

    /// The result of work on an input, unless the system refused to tell what the input is.
    ///
    /// # Errors
    ///
    /// The error of the system, in place of conclusions without its answer.
    pub(crate) fn believed(&self, done: Result<()>) -> Result<()> {
        let told = self.place().map_or(Ok(()), Place::check).map_err(Error::io(Doing::Open));
        match &done {
            Err(error) if error.code() == Code::System => done,
            _ => told.and(done),
        }
    }

    /// Asks the system for the kind of the input.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub(crate) fn look(&self) -> Result<()> {
        match self.place() {
            Some(place) if place.is_bytes() => _ = place.exists(),
            Some(place) => _ = place.format(),
            None => {}
        }
        self.believed(Ok(()))
    }

    /// Whether it is a group of arrays of another format.
    pub(crate) fn is_group(&self) -> bool {
        matches!(self, Self::Opened(OpenedInput { opened: Opened::Group(_), .. }))
    }

    /// Whether it is the group of arrays that an opener found under `word`.
    pub(crate) fn is_group_of(&self, word: &Path) -> bool {
        matches!(self, Self::Opened(OpenedInput { name, opened: Opened::Group(_) })
            if Path::new(name) == word)
    }

    /// The input that `word` means.
    pub(crate) fn from_word(word: &Path) -> Self {
        if word == Path::new("-") {
            return Self::Stdin;
        }
        let (path, part) = part_of(word).unwrap_or_else(|| (word.into(), Part::Whole));
        Self::File { path, part }
    }
}

/// `FILE@N`, `FILE#N` or `STORE::/path`, unless a file has that name. In an ordinary folder, the
/// key is the path of a file.
fn part_of(word: &Path) -> Option<(Place, Part)> {
    let Word { path, part } = Word::of_path(word);
    let place = Place::from(path);
    match part {
        Part::Whole if *place == *word => None,
        Part::Whole | Part::Member(_) if place.is_store() || place.is_archive() => {
            Some((place, part))
        }
        Part::Member(key) if place.is_dir() => {
            Some((place.join(key.trim_start_matches('/')).into(), Part::Whole))
        }
        Part::Whole if place.is_dir() => Some((place, part)),
        Part::Whole | Part::Member(_) => None,
        Part::Offset(_) | Part::Nth(_) => Some((place, part)),
    }
}

/// An input, or the error of its name.
pub(crate) type Found = Result<Origin, (String, Error)>;

/// Whether the name has a suffix of frames and chunks. Data sets of bcolz count too, as their names
/// are free.
pub(crate) fn has_suffix(place: &Place) -> bool {
    if place.is_bcolz() || place.is_store() {
        return true;
    }
    let name = place.as_os_str().as_encoded_bytes();
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Whether the file begins like a frame, or is a chunk. In a directory nothing else tells its
/// format.
pub(crate) fn is_ours(place: &Place) -> bool {
    place.is_elsewhere()
        || place
            .format()
            .is_some_and(|format| format.is_ours() && !matches!(format, Format::Npy | Format::Csv))
}

/// Whether the file begins like a chunk and is too short for it.
pub(crate) fn is_cut_chunk(place: &Place) -> bool {
    place.start().is_some_and(|(head, len)| chunk::is_cut(&head, len))
}

/// Whether the file is empty, or begins like no known format.
pub(crate) fn begins_like_nothing(place: &Place) -> bool {
    place.start().is_some_and(|(head, len)| match probe(&head) {
        Kind::Empty | Kind::Unknown => chunk::recognise(&head, len).is_none(),
        _ => false,
    })
}

/// The format at a place, among those that could be confused. `None` if nothing is there, or the
/// format is unknown. For data elsewhere their reader decides.
pub(crate) fn content_kind(place: &Place) -> Option<Format> {
    let format = place.format()?;
    let is_left = place.is_elsewhere() && format != Format::Store;
    match format {
        Format::SparseFrame => Some(Format::Frame),
        Format::Bcolz => Some(Format::Bcolz),
        _ if is_left => None,
        format if format.is_ours() => Some(format),
        _ => None,
    }
}

/// Whether this is a file of NumPy, whose items are uncompressed.
pub(crate) fn is_npy(origin: &Origin) -> bool {
    match origin {
        Origin::File { path, part: Part::Whole } => content_kind(path) == Some(Format::Npy),
        _ => false,
    }
}

/// Finds the inputs; `choice` decides which files of a directory count. A store on standard input
/// is one of them.
pub(crate) fn find(args: &InputArgs, choice: Choice<'_>) -> Inputs {
    let mut piped = Piped::default();
    find_words(args, choice, &mut |word| piped.local(word))
}

/// Finds the inputs as [`find`] does, but each name goes to the openers first.
pub(crate) fn find_opened(
    args: &InputArgs,
    choice: Choice<'_>,
    openers: &Openers,
    piped: &mut Piped,
) -> Inputs {
    find_words(args, choice, &mut |word| open(openers, piped, word))
}

/// The input that one of the openers opens. Its files and directories become inputs like local
/// ones, under the same name.
pub(crate) fn open_by(openers: &Openers, word: &Path) -> Result<Option<Origin>> {
    let without_key = Word::without_key(word);
    let opened = openers.open(&without_key.to_string_lossy());
    let name = || word.to_string_lossy().into_owned();
    match opened.map_err(Error::of_opener(Doing::Open))? {
        None => Ok(None),
        Some(Opened::Source(source)) => {
            let place = Place::opened(without_key, source);
            let format = place.look().map_err(Error::io(Doing::Open))?;
            if format == Some(Format::Folder) {
                let text = "there is no such object, and no data set below that name";
                let error = io::Error::new(io::ErrorKind::NotFound, text);
                return Err(Error::io(Doing::Open)(error));
            }
            // Keys exist only in words of Unicode.
            let word = word.to_str().unwrap_or_default();
            let key = word.get(without_key.as_os_str().len()..).unwrap_or_default();
            let part = match key.trim_start_matches(':').trim_end_matches('/') {
                "" => Part::Whole,
                key => Part::Member(key.to_owned()),
            };
            Ok(Some(Origin::File { path: place, part }))
        }
        Some(opened) => Ok(Some(Origin::Opened(OpenedInput { name: name(), opened }))),
    }
}

/// Finds the inputs as [`find`] does, but standard input is always bytes.
pub(crate) fn find_bytes(args: &InputArgs, choice: Choice<'_>) -> Inputs {
    let inputs = find_words(args, choice, &mut |word| {
        let origin = Origin::from_word(word);
        origin.place().inspect(|place| place.set_bytes());
        origin.place().map_or(Ok(()), foreign::check_name)?;
        origin.look().map(|()| origin)
    });
    inputs.found.iter().flatten().filter_map(Origin::place).for_each(Place::set_bytes);
    inputs
}

/// The input of a name, by an opener, from a pipe or as a local file.
///
/// # Errors
///
/// As [`open_by`] and [`Piped::local`]; an archive of arrays that cannot be read.
pub(crate) fn open(openers: &Openers, piped: &mut Piped, word: &Path) -> Result<Origin> {
    match open_by(openers, word)? {
        Some(opened) => Ok(opened),
        None => in_archive(piped.local(word)?, word),
    }
}

/// The arrays of an archive of NumPy as a group, or one of them; other inputs as they are.
fn in_archive(origin: Origin, word: &Path) -> Result<Origin> {
    let Origin::File { path, part } = &origin else { return Ok(origin) };
    if !path.is_archive() {
        return Ok(origin);
    }
    let Some(Source::File(file)) = path.source().map_err(Error::io(Doing::Open))? else {
        return Ok(origin);
    };
    let archive = path.word().unwrap_or(path).to_string_lossy();
    let opened = blosc_data::open_archive(file, &archive, part)?;
    let name = word.to_string_lossy().into_owned();
    Ok(opened.map_or(origin, |opened| Origin::Opened(OpenedInput { name, opened })))
}

/// The input of a local name.
pub(super) fn local(word: &Path) -> Result<Origin> {
    let origin = Origin::from_word(word);
    origin.place().map_or(Ok(()), foreign::check_name)?;
    origin.look().map(|()| origin)
}

fn find_words(
    args: &InputArgs,
    choice: Choice<'_>,
    open: &mut dyn FnMut(&Path) -> Result<Origin>,
) -> Inputs {
    let mut words = args.files.clone();
    let mut inputs = Inputs::default();
    if let Some(list) = &args.files_from {
        match input::listed(list, args.null) {
            Ok(more) => words.extend(more),
            Err(error) => inputs.found.push(Err((path_text(list), Error::io(Doing::Open)(error)))),
        }
    } else if words.is_empty() {
        words.push("-".into());
    }
    for word in &words {
        let origin = match open(word) {
            Ok(origin) => origin,
            Err(error) => {
                inputs.found.push(Err((path_text(word), error)));
                continue;
            }
        };
        match origin.place() {
            Some(path) if path.is_whole_folder() => inputs.found.push(Ok(origin)),
            Some(path) if path.is_dir() && args.recursive => inputs.walk(path, choice, true),
            Some(path) if path.is_dir() && args.shallow && foreign::refusal(path).is_none() => {
                inputs.walk(path, choice, false);
            }
            Some(path) if path.is_dir() => {
                let error = foreign::refusal(path).unwrap_or_else(|| Error::NotRegular {
                    path: path.to_path_buf(),
                    kind: FileKind::Directory,
                });
                inputs.found.push(Err((origin.name(), error)));
            }
            _ => inputs.found.push(Ok(origin)),
        }
    }
    inputs
}

/// Whether this directory is one object: a sparse frame, a store, an array or a table of bcolz.
pub(crate) fn is_object(path: &Path) -> bool {
    Place::from(path).is_whole_folder()
}

/// The file of a sparse frame that identifies it.
pub(crate) const INDEX_FILE: &str = "chunks.b2frame";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::walk::{LeftOut, Reason, all};
    use std::{fs, path::PathBuf};

    fn paths(inputs: Inputs) -> Vec<PathBuf> {
        inputs.found.into_iter().map(|found| found.unwrap().path().unwrap().to_owned()).collect()
    }

    #[test]
    fn no_file_means_standard_input() {
        let inputs = find(&InputArgs::default(), &all);
        assert!(matches!(&inputs.found[..], [Ok(Origin::Stdin)]));
    }

    #[test]
    fn suffix_of_a_name_selects_a_part() {
        let part = |word: &str| match Origin::from_word(Path::new(word)) {
            Origin::File { path, part } => (path.to_str().unwrap().to_owned(), part),
            _ => panic!("a file"),
        };
        assert_eq!(part("no@7"), ("no".into(), Part::Offset(7)));
        assert_eq!(part("no@0x61"), ("no".into(), Part::Offset(97)));
        assert_eq!(part("no#2"), ("no".into(), Part::Nth(2)));
        assert_eq!(part("no@x"), ("no@x".into(), Part::Whole));
        assert_eq!(part("@7"), ("@7".into(), Part::Whole));
        assert_eq!(Origin::from_word(Path::new("no@7")).name(), "no@7");
    }

    #[test]
    fn existing_files_win_over_names_of_parts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data@7");
        fs::write(&path, b"").unwrap();
        assert_eq!(Origin::from_word(&path), Origin::File { path: path.into(), part: Part::Whole });
    }

    #[test]
    fn directories_are_walked_in_order_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        fs::create_dir(root.join("b")).unwrap();
        for name in ["c", "a", "b/x", "b/skipped"] {
            fs::write(root.join(name), b"").unwrap();
        }
        let mut args =
            InputArgs { files: vec![root.clone()], recursive: true, ..InputArgs::default() };
        let choice = |path: &Place| path.ends_with("skipped").then_some(Reason::OtherFormat);
        let inputs = find(&args, &choice);
        let skipped = LeftOut { path: root.join("b/skipped"), reason: Reason::OtherFormat };
        assert_eq!(
            (&inputs.left_out[..], &inputs.roots[..]),
            (&[skipped][..], &[root.clone()][..])
        );
        assert_eq!(paths(inputs), ["a", "b/x", "c"].map(|name| root.join(name)));
        args.recursive = false;
        let inputs = find(&args, &choice);
        assert!(matches!(
            &inputs.found[..],
            [Err((_, Error::NotRegular { kind: FileKind::Directory, .. }))]
        ));
    }

    #[test]
    fn lists_have_lines_or_nuls() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("list");
        fs::write(&list, b"one\r\n\ntwo words\n").unwrap();
        let mut args = InputArgs { files_from: Some(list.clone()), ..InputArgs::default() };
        assert_eq!(paths(find(&args, &all)), [Path::new("one"), Path::new("two words")]);
        fs::write(&list, b"a\nb\0c\0").unwrap();
        args.null = true;
        assert_eq!(paths(find(&args, &all)), [Path::new("a\nb"), Path::new("c")]);
    }
}
