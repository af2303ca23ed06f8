//! Candidates for the words of a command line: fixed names, and names in the files that are named
//! already.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use blosc_chunk::{CodecId, DParams, FilterId, Registries};
use blosc_data::OpenOptions;
use clap::Command;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};

use crate::inputs::Place;
use crate::{
    args::{self, compress::target_names},
    formats::{bcolz::Bcolz, store},
    inputs::origin::Origin,
    metadata,
};

/// Kinds of checksums: of frames, then of Bloscpack files.
const CHECKSUMS: &[&str] = &[
    "body", "chunks", "none", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384",
    "sha512",
];

/// The values of an option that are the same for every file; `None` where clap knows them, or there
/// are none.
pub(super) fn fixed(command: &str, option: &str) -> Option<Vec<String>> {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match (command, option) {
        ("bench", "codec") | (_, "codec") => Some(codecs()),
        (_, "filter") => Some(filters()),
        (_, "target") => Some(target_names()),
        ("compress" | "convert", "checksum") => Some(own(CHECKSUMS)),
        (_, "simd") => Some(own(&["auto", "none", "sse2", "avx2", "avx512", "neon"])),
        ("rescue", "fill") => Some(own(&["zeros", "nan"])),
        ("compress", "typesize") => Some(own(&["auto", "1", "2", "4", "8", "16"])),
        ("man", "command") => Some(pages()),
        _ => None,
    }
}

fn codecs() -> Vec<String> {
    let registry = Registries::default().codecs;
    let here = (0..=u8::MAX).map(CodecId).filter(|id| registry.get(*id).is_some());
    here.map(|id| id.to_string()).collect()
}

/// The filters; those that need a parameter with one.
fn filters() -> Vec<String> {
    let registry = Registries::default().filters;
    let here = (1..=u8::MAX).map(FilterId).filter(|id| registry.get(*id).is_some());
    let whole = |id: FilterId| {
        let name = id.to_string();
        if args::compress::parse_filter(&name).is_ok() { name } else { format!("{name}:8") }
    };
    here.map(whole).chain(["none".to_owned(), "delta,shuffle".to_owned()]).collect()
}

fn pages() -> Vec<String> {
    let all = args::grammar();
    let commands = all.get_subcommands().map(|command| command.get_name().to_owned());
    commands.chain(["blpk", "b2-formats.5", "b2-recipes.7"].map(str::to_owned)).collect()
}

/// The grammar with candidates for its arguments, given the `words` on the command line.
pub(super) fn grammar(words: &[OsString]) -> Command {
    args::grammar().mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| {
            let option = arg.get_id().as_str().to_owned();
            if let Some(values) = fixed(&name, &option) {
                let list = move || values.iter().map(CompletionCandidate::new).collect();
                return arg.add(ArgValueCandidates::new(list));
            }
            let words = words.to_vec();
            match (name.as_str(), option.as_str()) {
                (_, "columns") => {
                    let list = move |now: &OsStr| columns(&words, now);
                    arg.add(ArgValueCompleter::new(list))
                }
                ("meta", "items") => {
                    let list = move |now: &OsStr| metadata(&words, now);
                    arg.add(ArgValueCompleter::new(list))
                }
                (_, "files" | "file" | "store") => arg.add(ArgValueCompleter::new(paths)),
                _ => arg,
            }
        })
    })
}

/// Files, and after `::` the members of a store or the columns of a table.
fn paths(now: &OsStr) -> Vec<CompletionCandidate> {
    let members = now.to_str().and_then(|text| text.split_once("::"));
    let Some((path, key)) = members else { return PathCompleter::any().complete(now) };
    let names = members_of(Path::new(path));
    let found = names.iter().filter(|name| name.starts_with(key) || key.is_empty());
    found.map(|name| CompletionCandidate::new(format!("{path}::{name}"))).collect()
}

/// Keys of values and tables, and columns.
fn members_of(path: &Path) -> Vec<String> {
    let place = Place::from(path);
    if !place.is_store() {
        let columns = columns_of(path);
        return columns.into_iter().map(|name| format!("/{name}")).collect();
    }
    let Ok(opened) = store::open(&place, DParams::default()) else { return vec![] };
    let tables: Vec<&str> = opened.tables().collect();
    let is_part = |key: &str| {
        let rest = tables.iter().filter_map(|table| key.strip_prefix(table.trim_end_matches('/')));
        key.ends_with("/__vlmeta__") || rest.into_iter().any(|rest| rest.starts_with('/'))
    };
    let mut names: Vec<String> =
        opened.keys().filter(|key| !is_part(key)).map(str::to_owned).collect();
    for table in &tables {
        names.extend((*table != "/").then(|| (*table).to_owned()));
        let Ok(opened) = opened.table(table) else { continue };
        let columns = opened.schema().columns.iter();
        let below = table.trim_end_matches('/');
        names.extend(columns.map(|column| format!("{below}/{}", column.name)));
    }
    names
}

/// The names of the columns of a table.
fn columns_of(path: &Path) -> Vec<String> {
    let place = Place::from(path);
    if place.is_bcolz() {
        let set = Bcolz::open(&place, DParams::default());
        return set.map(|set| set.column_names()).unwrap_or_default();
    }
    let origin = Origin::from_word(path);
    let table = store::table(&origin, DParams::default());
    let Ok(Some(table)) = table else { return vec![] };
    table.schema().columns.iter().map(|column| column.name.clone()).collect()
}

/// Columns of the tables on the command line, after those that are chosen already.
fn columns(words: &[OsString], now: &OsStr) -> Vec<CompletionCandidate> {
    let Some(now) = now.to_str() else { return vec![] };
    let (chosen, last) = now.rsplit_once(',').map_or(("", now), |(chosen, last)| (chosen, last));
    let before = if chosen.is_empty() { String::new() } else { format!("{chosen},") };
    let tables = words.iter().skip(1).map(PathBuf::from);
    let names: Vec<String> = tables.flat_map(|path| columns_of(&path)).collect();
    let is_free = |name: &&String| !chosen.split(',').any(|word| word == name.as_str());
    let found = names.iter().filter(|name| name.starts_with(last)).filter(is_free);
    found.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

/// Names of the metadata of the file on the command line.
fn metadata(words: &[OsString], now: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(now), Some(file)) = (now.to_str(), words.get(3)) else { return vec![] };
    let origin = Origin::from_word(Path::new(file));
    // Reading the metadata of a pipe would consume it.
    if origin.path().is_none_or(|path| !path.exists()) {
        return vec![];
    }
    let found = metadata::of_input(&origin, OpenOptions::default());
    let names = found.map(|(_, document)| document.names()).unwrap_or_default();
    let found = names.iter().filter(|name| name.starts_with(now));
    found.map(CompletionCandidate::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_values_are_those_that_the_options_take() {
        let line = |option: &str, value: &str| format!("b2 compress {option} {value} x");
        for (option, id) in [("-C", "codec"), ("--filter", "filter"), ("--target", "target")] {
            for value in fixed("compress", id).unwrap() {
                let line = line(option, &value);
                let words = line.split_whitespace().map(OsString::from);
                args::parse(words).unwrap_or_else(|error| panic!("{line}: {error}"));
            }
        }
        for value in CHECKSUMS {
            let line = line("--checksum", value);
            args::parse(line.split_whitespace().map(OsString::from)).unwrap();
        }
    }

    #[test]
    fn columns_that_are_chosen_are_not_offered_again() {
        let table = blosc_testdata::fixture::path("stores/table-basic.b2z");
        let words = ["b2", "show", table.to_str().unwrap(), "--columns"].map(OsString::from);
        let texts = |now: &str| -> Vec<String> {
            let found = columns(&words, OsStr::new(now));
            found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(texts("i"), ["id"]);
        assert_eq!(texts("id,v"), ["id,vs", "id,vb"]);
        assert!(!texts("id,").contains(&"id,id".to_owned()));
        let path = format!("{}::/v", table.display());
        let members = paths(OsStr::new(&path));
        assert_eq!(members.len(), 2);
    }
}
