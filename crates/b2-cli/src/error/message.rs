//! Errors that consist of a text: one row each, with the exit code and the advice.
//!
//! `{}` and `{:?}` stand for the name that a row is about.

use std::path::Path;

use blosc_data::error::Refusal;
use blosc_dtype::Dtype;

use super::Error;
use crate::{exit::Code, render::path_text};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(super) text: &'static str,
    pub(super) hint: Option<&'static str>,
    pub(super) code: Code,
}

/// The error that `name` is not among these columns.
pub(crate) fn no_column<'a>(name: &str, columns: impl IntoIterator<Item = &'a str>) -> Error {
    NO_SUCH_COLUMN.about(name_among(name, columns))
}

/// The row for data that the library refuses to convert, where the program has other words than the
/// library.
pub(super) fn refused(refusal: Refusal) -> Error {
    let names = |names: Vec<String>, name: &str| name_among(name, names.iter().map(String::as_str));
    match refusal {
        Refusal::NotATable => NOT_A_TABLE.error(),
        Refusal::NoColumn { name, columns } => NO_SUCH_COLUMN.about(names(columns, &name)),
        Refusal::NoConditionColumn { name, columns } => {
            NO_COLUMN_IN_CONDITION.about(names(columns, &name))
        }
        Refusal::BytesOfArray => ARRAY_OPTIONS.error(),
        Refusal::ShapesOfBytes => SHAPES_ARE_FOR_ARRAYS.error(),
        Refusal::NoParquet => NO_PARQUET.error(),
        Refusal::SeveralValues => A_STORE.error(),
        other => Error::Data(Box::new(other.into())),
    }
}

/// Advice on values that do not fit the types of columns.
pub(super) const OTHER_TYPES: &str = "a new table can have other types: \
    `b2 convert --dtype \"[('name', 'U20')]\" OLD NEW`";

/// Refuses a type for a table, whose columns have types of their own.
pub(crate) fn refuse_type(given: Option<&Dtype>) -> Result<(), Error> {
    given.map_or(Ok(()), |_| Err(HAS_A_TYPE.about("the types of its columns")))
}

/// A name, and the existing names.
fn name_among<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut listed = names.by_ref().take(MAX_LISTED_NAMES).collect::<Vec<_>>().join(", ");
    if names.next().is_some() {
        listed += ", ...";
    }
    format!("{name:?}; there are {listed}")
}

/// Names of columns in a message.
const MAX_LISTED_NAMES: usize = 20;

impl Message {
    /// The error of a row without a name.
    pub(crate) fn error(self) -> Error {
        Error::Message { message: self, name: None }
    }

    /// The error of a row about `name`.
    pub(crate) fn about(self, name: impl ToString) -> Error {
        Error::Message { message: self, name: Some(name.to_string()) }
    }

    /// The error of a row about the name of an output.
    pub(crate) fn of_file(self, path: &Path) -> Error {
        Error::Input { file: path_text(path), error: Box::new(self.error()) }
    }

    /// The error of a row about `name`, for one of several inputs.
    pub(crate) fn of_input(self, path: &Path, name: impl ToString) -> Error {
        Error::Input { file: path_text(path), error: Box::new(self.about(name)) }
    }

    /// The text, with the name in it.
    pub(super) fn filled(self, name: Option<&str>) -> String {
        match name {
            None => self.text.to_owned(),
            Some(name) if self.text.contains("{:?}") => {
                self.text.replacen("{:?}", &format!("{name:?}"), 1)
            }
            Some(name) => self.text.replacen("{}", name, 1),
        }
    }
}

/// Makes a constant of each row `NAME: exit code, text, hint`.
macro_rules! messages {
    ($($name:ident: $code:ident, $text:literal $(, $hint:literal)?;)*) => {
        $(pub(crate) const $name: Message = {
            let hint: &[&str] = &[$($hint)?];
            Message { text: $text, hint: hint.first().copied(), code: Code::$code }
        };)*
        /// Every row.
        #[cfg(test)]
        const ALL: &[Message] = &[$($name),*];
    };
}

messages! {
    // Limits of this build and of the formats.
    NO_PARQUET: Foreign,
        "this build reads and writes no Parquet: it was made without the feature `parquet`",
        "cargo install --path crates/b2-cli --features parquet";
    NO_ADDRESSES: Foreign,
        "this program reads files; it has no client for addresses",
        "`cargo install --path engines/b2-full` makes a `b2` with such clients: docs/engines.md";
    OTHER_FORMAT: Foreign,
        "{}, which this program does not read",
        "`cargo install --path engines/b2-full` makes a `b2` that reads it: docs/engines.md";
    NOT_FOR_COMMAND: Foreign,
        "{}, which this command does not read",
        "cat, convert, diff, info, list, meta get, plot, show, stats, sum, verify and view do";
    ARCHIVE_IS_READ: Foreign,
        "an archive of NumPy, which b2 reads but cannot change",
        "`b2 convert FILE new.b2z` makes a store of it, whose values are changed in place";
    NOTHING_CONVERTED: Foreign,
        "nothing in it can be a value of a store: nothing was written",
        "`b2 list --tree` shows what is in it";
    NO_COLUMN_KIND: Usage,
        "column {}: a table of a store cannot hold this type",
        "--format b2nd keeps every type, in rows instead of columns";
    NO_INDEX: Data,
        "chunks.b2frame is missing, the index of a sparse frame",
        "`b2 rescue FOLDER -o NEW` saves its chunks";
    TIME_TOO_FAR: Data,
        "column `{}`: a time that is too far away to be counted in seconds";
    INTEGER_TOO_LARGE: Data,
        "column `{}`: an integer of more than 64 bits, which a cell of a store cannot hold";
    OBJECT_IN_CELL: Data,
        "column `{}`: an object that a cell of a store cannot hold";
    OUTPUT_IS_NO_STORE: Usage,
        "{} is not a store, so nothing can be added to it",
        "use -o NEW.b2z::/KEY to make a store";
    VALUES_ARE_FRAMES: Usage,
        "a value of a store is an array or a frame, not a {}",
        "leave out --format: the input decides";
    KEY_HAS_SLASH: Usage,
        "the key of a value in a store begins with a slash",
        "as in -o STORE.b2z::/key";
    STORE_KEEPS_INPUT: Usage,
        "--rm does not apply if the output is in a store",
        "use --verify, then remove the input by hand";
    SEPARATED_VALUES: Foreign,
        "not a compressed file: comma-separated values",
        "`b2 show` prints them as a table, `b2 convert FILE table.b2z` stores that";
    BCOLZ_IS_A_DIRECTORY: Usage,
        "a data set of bcolz is a directory: name one of its files";
    TABLE_IS_FRAMES: Usage,
        "a table of a store has many frames: name one of them",
        "`b2 list --tree` shows the columns; STORE::/_cols/NAME is a frame where there is one";
    PACKED_ALREADY: Usage,
        "is {} already",
        "use -o to make a copy";
    TWO_FILES_OF_A_KEY: Usage,
        "two files of the folder would have the key {} in the store",
        "rename one of the two";
    NO_FILE_IN_FOLDER: Foreign,
        "it contains no file";
    NOTHING_TAKEN: Foreign,
        "nothing in it is for this command; left out: {}",
        "-v names them; a file that is named itself, without -r, is always read";
    NOTHING_CALLED_SO: Foreign,
        "nothing in it has the name of a frame or a chunk; left out: {}",
        "name the files, as in `DIR/*`: then their content decides";
    NOTHING_TO_COMPRESS: Foreign,
        "nothing in it is to be compressed; left out: {}",
        "`b2 recompress` and `b2 convert` compress anew; --output-dir with --copy-rest copies them";
    NO_STORE: Foreign,
        "not a store of Blosc2: neither an archive nor a directory nor a frame of this kind";
    COMPRESSES_FILES: Usage,
        "a part of a file: compress takes only whole files",
        "`b2 convert` compresses a part another way, `b2 extract` copies it";
    A_STORE: Usage,
        "is a store of several values",
        "name one of them as STORE::/key; `b2 list --tree` shows the keys";
    HOLDS_OBJECTS: Usage,
        "holds {} of Python instead of items",
        "`b2 show` shows them; `b2 convert` copies them to another frame";
    A_GROUP: Usage,
        "{} is a group of values",
        "`b2 list --tree` shows the keys";
    GROUP_OF_ARRAYS: Usage,
        "is a group of arrays: name one of them, as in {}",
        "`b2 list` lists them";
    TREE_IS_TEXT: Usage,
        "--tree and --json exclude each other",
        "`b2 list -r --json` describes each file";
    DIRECTORY_OF_NOTHING: Foreign,
        "a directory that holds no data in a known format";
    A_TABLE: Usage,
        "{} is a table",
        "`b2 show` shows tables, `b2 convert` makes other files of them";
    A_COLUMN: Usage,
        "{} is a column, which must be as long as the others of its table",
        "append rows to the table";
    NO_NUMPY_TYPE: Usage,
        "column {}: NumPy has no type for them",
        "--columns leaves columns out; .csv, .parquet and stores hold them";
    REMOVES_THE_STORE: Usage,
        "--rm would remove the whole store of which this is a value",
        "leave out --rm";
    A_PART_IS_NO_FILE: Usage,
        "there is no file {:?}",
        "--slice chooses a part, as in `b2 show FILE --slice 0:2`";
    NO_KEY: Usage,
        "{:?} is no key",
        "letters, up, down, left, right, pgup, pgdn, home, end, tab and enter are";
    NEEDS_TERMINAL: Usage,
        "view needs a terminal for input and output",
        "`b2 show`, `b2 info` and `b2 list --tree` print the same";
    ONE_FILE: Usage,
        "the terminal shows one file",
        "`b2 view --web FILE...` shows several in a browser";
    NO_PAGE: Foreign,
        "this build has no page for web browsers: it was made without the feature `web`",
        "in a checkout: `cargo xtask web build`, then `cargo install --path crates/b2-cli --features web`";
    WEB_FOLDER: Usage,
        "a browser asks for files, and this is a folder",
        "`b2 convert FOLDER FILE.b2z` makes one file of a folder";
    WEB_FILES: Usage,
        "--web takes files, and members of stores",
        "name the whole file";
    HEADING: Usage,
        "this is {}";
    CHANGED_WHILE_READ: Data,
        "another program changed data that were written already",
        "read it again";
    INPUT_IS_NO_TEXT: Usage,
        "--from csv is for text, and the content of this input is none",
        "leave it out";
    DELIMITER_IS_FOR_TEXT: Usage,
        "--delimiter is for text input: neither the name nor --from says that this is text",
        "use --from csv, or leave it out: text output has commas";
    UNCHECKED_IS_KEPT: Usage,
        "--rm and --no-check exclude each other: an unchecked input is kept",
        "leave out --rm or --no-check";
    FOLDER_IS_KEPT: Usage,
        "--rm cannot remove a folder of files",
        "leave out --rm";
    NO_ATTRIBUTE: Usage,
        "an attribute cannot have this value: {}";
    COLUMN_HAS_NO_METADATA: Usage,
        "a column of a table has no metadata of its own",
        "the table has attributes";
    TABLE_HOW: Usage,
        "the action does not take these columns or rows",
        "`b2 help table` shows each action with its arguments";
    ROWS_HAVE_FIELDS: Usage,
        "bytes without fields, which are no rows of a table",
        "`b2 convert --dtype \"[('day', 'i8'), ('price', 'f8')]\" FILE rows.npy` gives them fields";
    NOT_NUMBERS: Usage,
        "the items are {}, and only numbers can be drawn",
        "--dtype gives bytes a type, --columns chooses a column or a field of numbers";
    CHOOSE_COLUMN: Usage,
        "choose from the columns of its rows: {}",
        "use --columns NAME, or --columns NAME,NAME for several lines";
    PLOT_NO_DIMENSION: Usage,
        "a single item is no picture",
        "`b2 show` shows it";
    PLOT_DIMENSIONS: Usage,
        "the slice has {} dimensions, and a picture has one or two",
        "choose one position of the others, as in --slice 0,:,: for an array of three dimensions";
    PLOT_LINE: Usage,
        "the slice has {}, and a line has one dimension",
        "choose one position of the others, or up to 6 of one, as in --slice 0:6,:";
    PLOT_HEAT: Usage,
        "the slice has {}, and a heat map has two dimensions",
        "`--kind line` draws one dimension, `--kind histogram` any number of them";
    SLICE_OF_TABLE: Usage,
        "--slice of a table takes a range of rows without a step",
        "--where chooses rows, --columns columns";
    STATS_BYTES: Usage,
        "the items are {}, which have no histogram",
        "--dtype gives bytes a type";
    STATS_AXIS: Usage,
        "--axis {} is no dimension, or gives more than 10000 lines",
        "--slice chooses a part";
    STATS_ONE_LINE: Usage,
        "--axis gives a line for each position of other dimensions, and there is {}",
        "leave it out";
    STATS_TABLE: Usage,
        "a table has rows and no dimensions for --axis",
        "--columns chooses columns, --slice A:B rows";
    PLOT_UNLIKE: Usage,
        "columns of times and of numbers, or times of several units, cannot share an axis",
        "draw some of them with --columns, and use --x NAME for the one that is the x axis";
    PLOT_ROWS: Usage,
        "--x and --where are for rows of a table, whose items have one dimension";
    PLOT_MAPS: Usage,
        "--range and --upward are for heat maps",
        "--kind heat draws one of two dimensions";
    PLOT_BARS: Usage,
        "--bins is for histograms",
        "--kind histogram draws one";
    PLOT_ONE_COLUMN: Usage,
        "several columns can only be drawn as lines",
        "use --columns NAME for a histogram";
    PLOT_NO_VALUES: Data,
        "there is nothing to draw: the slice has no items";
    PLOT_FORMAT: Usage,
        "{} is not a picture: b2 writes .png and .svg",
        "use -o NAME.png, -o NAME.svg, or --format with -o -";
    SCREEN_FORMAT: Usage,
        "a screen is written as .png",
        "use --picture NAME.png";
    PLOT_TWO_FORMATS: Usage,
        "--format contradicts the name {}",
        "leave out --format, or use another name";
    PLOT_SIZE: Usage,
        "a picture is 160 to 4096 pixels wide and 120 to 4096 high",
        "use --size 800x500";
    RESCUE_NEEDS_FILES: Usage,
        "only files and directories can be rescued, into files and directories";
    RESCUED_ARRAY: Usage,
        "the output of this rescue is a .{} file",
        "use such a name; `b2 convert` makes other files of it";
    NO_FILL: Usage,
        "--fill does not apply: a rescue of NumPy's files saves the rows and arrays that are left",
        "leave out --fill";
    TYPE_OF_BCOLZ: Usage,
        "--dtype is for arrays and tables of bcolz: other formats store their type",
        "leave out --dtype";
    NO_NAN: Usage,
        "an item of {} bytes cannot be NaN",
        "use --fill zeros, or give the bytes of an item, as 0x0000803f";
    FILL_OF_ITEM: Usage,
        "the fill needs {} bytes, the size of an item",
        "as in --fill 0x0000803f for 4 bytes";
    NOTHING_RESCUED: Data,
        "no sound chunk and no header were found";
    NOT_COMPRESSED: Usage,
        "a .{} file is not compressed: options of compression do not apply";

    SEALS_FRAMES: Usage,
        "only a file of a single frame, and a sparse frame, can be sealed";

    DAMAGED_IS_NOT_SEALED: Data,
        "is damaged: a new seal would hide that",
        "`b2 verify` says where, `b2 rescue` saves the rest";
    REPACKS_FRAMES: Usage,
        "a chunk or data of another format, which never have dead bytes";
    REPACKS_ONE_FRAME: Usage,
        "a part of a file, which cannot be repacked in place",
        "use `b2 convert FILE#N` to make a new file of one frame";

    EXTRACT_WHICH: Usage,
        "more than one frame",
        "FILE#N names one of them; `b2 split` makes a file of each";
    JOINS_FRAMES: Usage,
        "not a frame: only frames can be joined",
        "`b2 convert --format b2frame` makes a frame of it";
    STRICT: Foreign,
        "{}, which --strict refuses",
        "without --strict it is left out with a warning";
    NOT_ONE_PIECE: Usage,
        "cannot be copied, as it is not one piece of a file",
        "use `b2 convert`";
    NO_SUCH_CHUNK: Usage,
        "no chunk {}",
        "`b2 info -vv FILE` lists the chunks";
    NOTHING_TRIED: Usage,
        "none of the settings fits these data";
    NOTHING_FOUND: Data,
        "no frame and no chunk was found";
    RECOMPRESS_HOW: Usage,
        "no option says how to compress",
        "as in `b2 recompress -C zstd -9 FILE`; `b2 tune FILE` finds what is good";
    RECOMPRESS_ONE: Usage,
        "a part of a file, or several objects, which cannot be replaced in place",
        "use -o to write a new file of one object";
    NO_SUCH_COLUMN: Usage,
        "no column has the name {}";
    NO_COLUMN_IN_CONDITION: Usage,
        "no column has the name {}",
        "text stands in quotation marks, as in --where 'name == \"A\"'";
    EMPTY_LIST: Usage,
        "the list is empty: there is nothing to check",
        "`(cd DIR && b2 sum -r .) > LIST` makes one of a folder";
    NO_SUMS: Usage,
        "line {} is not in the form of `b2 sum`",
        "a line is the sum, two spaces and the name";
    SUMS_DIFFER: Data,
        "sums that differ from the list: {}";

    // Inputs and outputs.
    TERMINAL: Usage,
        "refusing to write binary data to a terminal",
        "use `> FILE` to keep it, or -f if this is meant";
    TERMINAL_INPUT: Usage,
        "nothing but a terminal to read from",
        "name a FILE, or send data through a pipe";
    A_FOLDER: Usage,
        "a folder of files, not a single object",
        "name a file in it: `b2 list --tree FOLDER` shows them";
    FOLDERS_TO_COMPARE: Usage,
        "diff compares two objects, not two folders",
        "`(cd A && b2 sum -r .) > list` and `(cd B && b2 sum -c ../list)` compare two folders";
    NO_SUFFIX: Usage,
        "the name does not end in {}: there is no suffix to remove",
        "use -o to name the output, or --suffix";
    UNKNOWN_OUTPUT_FORMAT: Usage,
        "the name of the output tells no format",
        "use --format, as in `b2 convert --format b2frame data.blp`: `b2 formats` lists them";
    NO_OUTPUT_FORMAT: Usage,
        "neither an output nor its format is named",
        "use --format, as in `b2 convert --format b2frame data.blp`: `b2 formats` lists them";
    OUTPUT_IS_FOLDER: Usage,
        "the output is a folder, whose name tells no format",
        "use --format, as in `b2 convert --format b2nd --output-dir FOLDER FILE`";
    AFTER_THE_END: Data,
        "there is nothing at this byte: the file has {}",
        "`b2 info -v FILE` shows where its frames start";
    PART_OF_PIPE: Usage,
        "a pipe, of which no part can be named",
        "use the name of the pipe alone, or keep its content in a file";
    FORMAT_NAMES_INPUTS: Usage,
        "with --format every name is an input, and {} does not exist",
        "use -o to name the output";
    OUTPUT_IS_DATA: Usage,
        "exists and holds data of the same kind: is it another input?",
        "use -f -o NAME to overwrite it, or --format to convert several inputs";
    SEQUENCE: Usage,
        "the frames do not form one content: arrays, objects or items of several sizes",
        "name one as FILE#N, or use `b2 split FILE` for all";
    REMOVES_NO_FOLDER: Usage,
        "a directory, which --rm does not remove",
        "leave out --rm, and remove the directory when the output is there";
    NO_ITEMS: Usage,
        "{}, whose bytes are no items of the array";
    APPENDS_ITSELF: Usage,
        "is the target of the append itself",
        "append a copy, as in `cp -r FILE COPY && b2 append FILE COPY`";
    REST_OF_SEQUENCE: Data,
        "other data follow the frames",
        "`b2 split FILE` takes its frames out";
    DIRECTORY_TO_STDOUT: Usage,
        "the output is a directory, which standard output cannot take",
        "use -o to name a directory";
    VERIFY_PIPE: Usage,
        "output in a pipe cannot be read back",
        "use -o to name a file";
    READ_BACK_DIFFERS: Data,
        "reading back gave other data",
        "the input is untouched; this is a defect of the program or of the machine";
    BLP_FOLLOWED: Usage,
        "{}, which would be cut off",
        "`b2 split FILE` takes it out";
    FOLLOWED: Usage,
        "{}, which would be cut off",
        "`b2 convert` takes the first array out";
    FOREIGN_FILE: Usage,
        "{} is no part of it, and would be removed",
        "move that file elsewhere, or use -o to write beside";
    SEQUENCE_METADATA: Usage,
        "frames after the first have metadata that one frame cannot keep",
        "`b2 split FILE` keeps the frames apart";
    WOULD_LOSE: Data,
        "kept, because {} would be lost",
        "use -f with --rm if this is meant";

    // Arrays and items.
    ONE_SLICE: Usage,
        "not an array: --slice takes one index, or one range without a step";
    NO_TABLE_TO_CHANGE: Usage,
        "not a table of a store or of bcolz, which `b2 table` changes";
    NOT_A_TABLE: Usage,
        "not a table: --where, --skip and --columns do not apply";
    NOT_AN_ARRAY: Usage,
        "not an array, so it cannot become a .npy file",
        "use --format raw";
    SECOND_ARRAY: Usage,
        "a .npy file holds one array, and another one follows",
        "use --format raw";
    INPUT_IS_NO_ARRAY: Usage,
        "not an array: neither a .npy file nor raw data with --shape and --dtype",
        "use --format b2frame to compress the bytes as they are";
    SHAPE_OF_WHAT: Usage,
        "--shape needs the type of the items",
        "use --dtype with it";
    TEXT_HAS_ROWS: Usage,
        "--shape does not apply to text in columns",
        "leave it out";
    NPY_HAS_A_TYPE: Usage,
        "a .npy file stores its type: --dtype cannot change it",
        "leave out --dtype";
    ROWS_EXCEED_MEMORY: Limit,
        "the rows of one chunk do not fit the memory, and a pipe gives them whole",
        "name the file, use -M to allow more, or choose other --chunks";
    OPEN_SHAPE_OF_PIPE: Usage,
        "the length of a pipe is not known, so no length of the shape can be -1",
        "name the file, or give all lengths";
    FORTRAN_PIPE: Usage,
        "items in Fortran order cannot come through a pipe",
        "name the file";
    CANNOT_GROW_AT_END: Usage,
        "an array in Fortran order does not grow at its end",
        "use `b2 convert` to make a .b2nd file of it";
    NO_DIMENSION_GROWS: Usage,
        "a single item, which has no dimension to grow along",
        "`b2 cat FILE | b2 convert --dtype TYPE - NEW.npy` makes an array of one dimension";
    SHAPE_IN_METADATA: Usage,
        "an array whose metadata hold the shape, which an append cannot change",
        "use `b2 convert` to make a .b2nd file of it";
    GROWS_BY_ROWS: Usage,
        "grows along its first dimension only, not along --axis {}",
        "`b2 convert` to a .b2nd file makes an array that grows along each";
    NPY_HEADER_IS_FULL: Usage,
        "the header of the .npy file has no room for a longer shape",
        "`b2 convert` to another .npy file makes room";
    SUFFIX_CANNOT_GROW: Usage,
        "nothing can be appended to a .{} file, so none is made",
        "frames, arrays, stores, and files of Bloscpack, bcolz and NumPy grow";
    CHUNK_CANNOT_GROW: Usage,
        "a bare chunk, to which nothing can be appended",
        "`b2 convert` makes a frame of it, which grows";

    // Options that do not go together.
    ARRAY_OPTIONS: Usage,
        "-t, -z and --block-size do not apply to an array",
        "use --chunks and --blocks, or --format b2frame";
    HAS_A_TYPE: Usage,
        "the input stores its type, {}: --dtype and --shape are for inputs that do not",
        "leave them out";
    NAME_OF_OTHER_FORMAT: Usage,
        "compress does not write files with this suffix",
        "use `b2 convert`, another name, or --format to choose the format";
    NAME_OF_FOREIGN_FORMAT: Usage,
        "no command of b2 writes files with this suffix",
        "use another name, or --format to choose the format";
    NAME_OF_ANOTHER_FORMAT: Usage,
        "the suffix belongs to another format, and this command keeps the format",
        "use another name, or `b2 convert`";
    NOT_RESTORED_TO: Usage,
        "decompress does not write files with this suffix: it restores raw data and .npy",
        "use `b2 convert`, another name, or --format raw";
    FILTER_FOR_TARGET: Usage,
        "readers of {} do not know all of these filters",
        "leave out --target, or choose other filters";
    SHAPES_ARE_FOR_ARRAYS: Usage,
        "--chunks and --blocks are for arrays",
        "use -z and --block-size, or --format b2nd";
    SHAPE_OF_BYTES: Usage,
        "--shape is for arrays, and frames and chunks of bytes have none",
        "leave it out, or use --format b2nd";
    BLP_HAS_NO_GRID: Usage,
        "--chunks and --blocks do not apply: the chunks of a Bloscpack file are numbers of bytes",
        "use -z, or --format b2nd";
    ONE_CHUNK: Usage,
        "one chunk holds all data: there is no chunk size to choose",
        "leave out -z, or --format chunk";
    NO_DICTIONARY: Usage,
        "the codec {} has no use for a dictionary",
        "zstd, lz4 and lz4hc take one with --dict";
    NO_CHECKSUM: Usage,
        "a .{} file has no such checksum",
        "--checksum body, chunks or none is for frames and arrays, adler32 to sha512 or none for \
         --format blp";
    FRAME_FOR_TARGET: Usage,
        "readers of {} read bare chunks only",
        "use --format chunk";
    LOSSY: Usage,
        "{} loses data",
        "use --lossy if this is meant";
    LOSSY_VERIFY: Usage,
        "data that --lossy has changed are not equal to the input",
        "leave out --verify and --rm; the loss is reported in any case";
    LOSSY_BYTES: Usage,
        "{} changes numbers, and the type of the items is unknown",
        "use --dtype, as in --dtype f4";
    LOSSY_NPY: Usage,
        "{} would change the header of the .npy file, which is taken as bytes",
        "leave out -t, -z, --block-size and --format b2frame: arrays have --chunks and --blocks";
    LOSSY_FILTER: Usage,
        "{} compresses numbers, and filters before it would change them",
        "leave out --filter";
    LOSSY_CONVERT: Usage,
        "{} loses data, and conversions do not",
        "use `b2 cat` and `b2 compress --lossy`";
    NO_COMMAND: Usage,
        "no command has the name {:?}";

    // Metadata.
    NO_METALAYERS: Usage,
        "a chunk or a Bloscpack file has no metalayers",
        "use --format b2frame";
    BLP_HAS_NO_METALAYERS: Usage,
        "a Bloscpack file has metadata and no metalayers",
        "use the key metadata, and neither --meta nor --vlmeta";
    FRAME_HAS_METALAYERS_ONLY: Usage,
        "a frame has metalayers and no other metadata",
        "use the keys metalayers and vlmetalayers, or `b2 convert`, which keeps all in a frame";
    CHUNK_HAS_NO_METADATA: Usage,
        "a bare chunk, which cannot hold metadata",
        "`b2 convert` makes a frame of it, which can";
    METADATA_WITHOUT_NAMES: Usage,
        "the metadata are not a JSON object, so they have no names",
        "use import to replace them";
    RESERVED_METALAYER: Usage,
        "the metalayer {:?} makes a frame an array and cannot be chosen";
    ARRAY_METADATA: Usage,
        "dtype, shape, order and container make the file an array and cannot be changed",
        "`b2 convert` makes a file without them";
    NO_SUCH_METADATA: Data,
        "no metadata have the name {:?}";
    WIDE_INTEGER: Usage,
        "{} is an integer of more than 64 bits, which metadata cannot hold",
        "in quotation marks it is text, as in 'NAME=\"123456789012345678901\"'";
    NAME_VALUE: Usage,
        "{:?} is not of the form NAME=VALUE";
    NO_NAMES: Usage,
        "no name was given";
    ONE_IMPORT: Usage,
        "import takes one file, or `-`";
    METADATA_ONLY_READ: Usage,
        "metadata of addresses and of other formats are only read",
        "`b2 convert` makes a file of it whose metadata can be changed";
    NEW_STORE_NAME: Usage,
        "a pipe gives the new store no name",
        "use -o to name it";
    PIPE_IS_NOT_CHANGED: Usage,
        "data from a pipe cannot be changed",
        "keep the data in a file, and name that";
    EDITOR_FAILED: Usage,
        "the editor `{}` failed, and nothing was changed",
        "$VISUAL or $EDITOR names another editor";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_stands_in_the_text_as_given_or_quoted() {
        assert_eq!(LOSSY.about("the filter trunc").to_string(), "the filter trunc loses data");
        assert_eq!(NO_COMMAND.about("a\"{}").to_string(), r#"no command has the name "a\"{}""#);
        assert_eq!(NO_NAMES.error().to_string(), "no name was given");
    }

    #[test]
    fn commands_of_hints_are_commands() {
        use clap::error::ErrorKind;
        let hints = ALL.iter().filter_map(|row| row.hint);
        // Commands in pipes, and parts of shell lines, belong to other programs.
        let lines = hints.flat_map(|hint| hint.split('`').skip(1).step_by(2));
        let lines = lines.flat_map(|line| line.split(['|', '(', ')', '&', '>', '<']));
        for line in lines.map(str::trim).filter(|line| line.starts_with("b2 ")) {
            let words = line.split_whitespace().map(|word| match word.trim_matches('"') {
                "TYPE" => "f8".into(),
                word => word.into(),
            });
            let parsed = crate::args::parse(words);
            // Half a command ends with an option, which clap refuses.
            let is_whole = parsed.err().is_none_or(|error| {
                let kinds = [
                    ErrorKind::MissingRequiredArgument,
                    ErrorKind::InvalidValue,
                    ErrorKind::DisplayHelp,
                ];
                kinds.contains(&error.kind())
            });
            assert!(is_whole || line.ends_with("\"["), "{line}");
        }
    }

    #[test]
    fn row_gives_hint_and_exit_code() {
        let error = NO_PARQUET.error();
        assert_eq!(
            error.hint().as_deref(),
            Some("cargo install --path crates/b2-cli --features parquet")
        );
        assert_eq!((error.code(), NO_NAMES.error().hint()), (Code::Foreign, None));
    }
}
