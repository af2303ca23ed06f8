//! `b2 sum`: a hash of the content, which is the same whatever the format.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::Xxh3;

use super::content;
use crate::{
    args::{
        LimitArgs, SumArgs,
        sum::SumAlgorithm::{self, Sha256 as AsSha256, Xxh3 as AsXxh3},
    },
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{
        ObjectReader, Origin,
        origin::{self, Found},
        walk,
    },
};

/// The sum of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.sum/1")]
struct SumReport<'a> {
    path: &'a str,
    /// The format of the (first) object of the input.
    format: &'static str,
    algorithm: &'static str,
    nbytes: u64,
    sum: &'a str,
    /// Whether it is that of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
}

/// A hash under way.
enum Hasher {
    Sha256(Sha256),
    Xxh3(Box<Xxh3>),
}

impl Hasher {
    fn new(algorithm: SumAlgorithm) -> Self {
        match algorithm {
            AsSha256 => Self::Sha256(Sha256::new()),
            AsXxh3 => Self::Xxh3(Box::new(Xxh3::new())),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Xxh3(hasher) => hasher.update(bytes),
        }
    }

    /// In hexadecimal digits.
    fn finish(self) -> String {
        match self {
            Self::Sha256(hasher) => {
                hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
            }
            Self::Xxh3(hasher) => format!("{:016x}", hasher.digest()),
        }
    }
}

/// The content of one input, hashed.
struct Sum {
    format: &'static str,
    nbytes: u64,
    digits: String,
}

/// Prints the sum of each input, or checks those of lists.
pub(crate) fn run(args: &SumArgs, cx: &Context) -> Code {
    if args.check {
        let lists = origin::find(&args.inputs, &walk::all);
        return cx.run_on_inputs(lists, |list| check_list(args, cx, list));
    }
    let inputs = cx
        .find(&args.inputs, &walk::all)
        .map(|found| found.into_iter().flat_map(|input| tables_or_frames(input, cx)).collect());
    cx.run_on_inputs(inputs, |origin| {
        let sum = sum(cx, origin, args.algorithm, args.limits)?;
        if cx.console.json() {
            return cx.console.document(&report(&origin.name(), args.algorithm, &sum, None));
        }
        cx.console.print_name(&format!("{}  ", sum.digits), &origin.name_bytes(), "")
    })
}

/// The tables and values of a store, so that a table has the same sum in all formats. Where
/// its rows are none of NumPy's, its frames have one each.
fn tables_or_frames(input: Found, cx: &Context) -> Vec<Found> {
    let store = input.as_ref().ok().filter(|origin| store::whole(origin).is_some()).cloned();
    let tables = content::expand(vec![input], cx, true);
    let has_rows = |origin: &Origin| match store::rows(origin, cx.read_params()) {
        Ok(Some(rows)) => rows.dtype().is_ok(),
        _ => true,
    };
    match store {
        Some(store) if !tables.iter().flatten().all(has_rows) => {
            content::expand(vec![Ok(store)], cx, false)
        }
        _ => tables,
    }
}

fn report<'a>(
    path: &'a str,
    algorithm: SumAlgorithm,
    sum: &'a Sum,
    ok: Option<bool>,
) -> SumReport<'a> {
    SumReport {
        path,
        format: sum.format,
        algorithm: algorithm.name(),
        nbytes: sum.nbytes,
        sum: &sum.digits,
        ok,
    }
}

fn sum(cx: &Context, origin: &Origin, algorithm: SumAlgorithm, limits: LimitArgs) -> Result<Sum> {
    let mut hasher = Hasher::new(algorithm);
    let (mut format, mut nbytes) = (None, 0);
    if origin.place().is_some_and(walk::is_damaged) {
        // It is no bytes like any others.
        let opened =
            ObjectReader::open(origin, cx.dparams()).and_then(|mut objects| objects.next());
        opened.map_err(|error| walk::as_damage(origin, error))?;
    }
    content::for_each(cx, origin, limits, |source| {
        format.get_or_insert(source.name());
        source.in_c_order(&cx.read_options(), cx.memory() / 4, &mut |bytes| {
            nbytes += bytes.len() as u64;
            hasher.update(bytes);
            Ok(())
        })
    })?;
    Ok(Sum { format: format.unwrap_or("empty"), nbytes, digits: hasher.finish() })
}

/// Checks every sum of a list.
fn check_list(args: &SumArgs, cx: &Context, list: &Origin) -> Result<()> {
    let bytes = match list.path() {
        Some(path) => std::fs::read(path),
        None => {
            let mut bytes = vec![];
            std::io::copy(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
        }
    };
    let bytes = bytes.map_err(Error::io(Doing::Open))?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.map(|(nline, line)| (nline, line.strip_suffix(b"\r").unwrap_or(line)));
    let entries = lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(nline, line)| entry(line).ok_or_else(|| message::NO_SUMS.about(nline + 1)))
        .collect::<Result<Vec<_>>>()?;
    if entries.is_empty() {
        return Err(message::EMPTY_LIST.error());
    }
    let mut nwrong = 0;
    let origins = entries.iter().map(|(.., name)| {
        Ok(Origin::from_word(&b2_program::input::path_of(name).map_err(Error::io(Doing::Read))?))
    });
    let origins = origins.collect::<Result<Vec<_>>>()?.into_iter().map(Ok);
    let mut wanted = entries.iter();
    let code = cx.run_on_inputs(origins.collect::<Vec<Found>>(), |origin| {
        let Some((algorithm, digits, name)) = wanted.next() else { return Ok(()) };
        let sum = sum(cx, origin, *algorithm, args.limits)?;
        let ok = sum.digits.eq_ignore_ascii_case(digits);
        nwrong += u64::from(!ok);
        if cx.console.json() {
            let name = String::from_utf8_lossy(name);
            return cx.console.document(&report(&name, *algorithm, &sum, Some(ok)));
        }
        cx.console.print_name("", name, if ok { ": OK" } else { ": FAILED" })
    });
    match code {
        Code::Success if nwrong > 0 => Err(message::SUMS_DIFFER.about(nwrong)),
        Code::Success => Ok(()),
        code => Err(Error::Reported { code }),
    }
}

/// Algorithm, digits and name of a line; the number of digits tells the algorithm.
fn entry(line: &[u8]) -> Option<(SumAlgorithm, &str, &[u8])> {
    let end = line.iter().position(|byte| *byte == b' ')?;
    let (digits, name) = (core::str::from_utf8(line.get(..end)?).ok()?, line.get(end + 1..)?);
    let name = name.strip_prefix(b" ").or_else(|| name.strip_prefix(b"*"))?;
    let algorithm = match digits.len() {
        64 => AsSha256,
        16 => AsXxh3,
        _ => return None,
    };
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_hex && !name.is_empty()).then_some((algorithm, digits, name))
}
