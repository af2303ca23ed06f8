//! Bloscpack files: release 0.16.0 against `bloscpack`. One of them writes a file and either one
//! appends to it; after every step both read it.

use blosc_io::MemStore;
use bloscpack::{
    AppendOptions, BlpFile, Budget, Checksum, Reader, WriteOptions, append,
    metadata::{MetadataCodec, MetadataOptions, Room},
    pack,
    params::Reserve,
    report::VerifyOptions,
    rewrite_metadata, unpack,
};
use serde_json::{Value, json};

use super::{
    Bench, Case, Verdict,
    case::Draw,
    chunks::{blosc1_cparams, blosc1_json},
    compare,
    oracle::Reply,
};
use crate::failure::{Context, Result, fail};

mod arrays;

pub(super) use arrays::{read as array_read, write as array_write};

/// Bloscpack writes a file, both append to it.
pub(super) fn read(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "bloscpack", 0);
    let how = Packing::draw(&mut draw, case);
    let data = case.data();
    let reply = bench.oracle.ask(how.request("blp_write", case), &[&data])?;
    let blp = reply.into_first()?;
    if how.is_exact(case) {
        compare("the whole file", &blp, &pack(&data, how.options(case))?)?;
    }
    change(bench, case, &mut draw, File { blp, data, metadata: how.metadata })
}

/// The crate writes a file, both append to it.
pub(super) fn write(bench: &mut Bench, case: &Case) -> Result<Verdict> {
    let mut draw = Draw::new(case.recipe.seed.into(), "bloscpack", 0);
    let how = Packing::draw(&mut draw, case);
    let data = case.data();
    let blp = pack(&data, how.options(case))?;
    change(bench, case, &mut draw, File { blp, data, metadata: how.metadata })
}

/// A file, and its expected content.
struct File {
    blp: Vec<u8>,
    data: Vec<u8>,
    metadata: Value,
}

/// Makes up to four changes, each by either program; both read the file before and after.
fn change(bench: &mut Bench, case: &Case, draw: &mut Draw, mut file: File) -> Result<Verdict> {
    check(bench, case, draw, &file).at("as written")?;
    for step in 1..draw.within(1..6) {
        let replace = !file.metadata.is_null() && draw.chance(25);
        let changed = if replace {
            replace_metadata(bench, draw, &mut file)
        } else {
            append_data(bench, case, draw, &mut file)
        };
        changed.and_then(|()| check(bench, case, draw, &file)).at(format!("change {step}"))?;
    }
    Ok(Verdict::Equal)
}

/// Both append the same data to the same file, or refuse; one of the results is kept.
fn append_data(bench: &mut Bench, case: &Case, draw: &mut Draw, file: &mut File) -> Result<()> {
    let nbytes = draw.any_size(14).min(20 * case.chunksize);
    let new =
        file.data.iter().rev().chain(&[7; 1000]).copied().cycle().take(nbytes).collect::<Vec<u8>>();
    let mut request = blosc1_json(case, "blp_append");
    let cparams = draw.chance(70).then(|| blosc1_cparams(case));
    if cparams.is_none() {
        request["typesize"] = Value::Null;
        request["blocksize"] = 0.into();
    }
    let mut ours = MemStore::new(file.blp.clone());
    let appended = append(
        &mut ours,
        new.as_slice(),
        nbytes as u64,
        &AppendOptions::default().cparams(cparams.clone()),
    );
    let can = original_appends(&file.blp)?;
    let theirs =
        if can { bench.oracle.ask(request, &[&file.blp, &new])?.parts.pop() } else { None };
    match (appended, theirs) {
        (Ok(_), Some(theirs)) => {
            if cparams.is_some() && case.level == 0 {
                compare(
                    "the file appended to",
                    without_rest(&theirs, &file.blp)?,
                    ours.as_bytes(),
                )?;
            }
            file.blp = if draw.chance(50) { theirs } else { ours.into_bytes() };
            file.data.extend_from_slice(&new);
        }
        (Ok(_), None) if !can => {
            file.blp = ours.into_bytes();
            file.data.extend_from_slice(&new);
        }
        (Err(_), None) => {}
        (Ok(_), None) => return fail("Bloscpack does not append, and we do"),
        (Err(error), Some(_)) => return Err(error).at("only Bloscpack appends"),
    }
    Ok(())
}

/// A file that Bloscpack appended to, without the bytes after a smaller last chunk: Bloscpack does
/// not cut the file.
fn without_rest<'a>(theirs: &'a [u8], before: &[u8]) -> Result<&'a [u8]> {
    let rest = if theirs.len() == before.len() { open(theirs)?.trailing_bytes()? } else { 0 };
    Ok(&theirs[..theirs.len() - usize::try_from(rest)?])
}

/// Whether Bloscpack appends to a file: it needs offsets, and a chunk size other than 0.
fn original_appends(blp: &[u8]) -> Result<bool> {
    let file = open(blp)?;
    Ok(file.header().has_offsets() && file.nbytes()? > 0)
}

fn replace_metadata(bench: &mut Bench, draw: &mut Draw, file: &mut File) -> Result<()> {
    let room = open(&file.blp)?.metadata_header().map_or(0, |header| header.max_meta_size());
    let fits = draw.chance(90) && room > 40;
    // Random digits, which cannot be compressed to less than half.
    let count = if fits { 1 } else { 1 + room as usize / 4 };
    let text: String = (0..count).map(|_| format!("{:016x}", draw.within(0..usize::MAX))).collect();
    let metadata = json!({ "now": text });
    let mut ours = MemStore::new(file.blp.clone());
    let rewritten = rewrite_metadata(&mut ours, &metadata, bloscpack::Durability::PowerLoss);
    let request = json!({"op": "blp_rewrite_metadata", "metadata": metadata, "meta_codec": "zlib"});
    let theirs = bench.oracle.ask(request, &[&file.blp])?.parts.pop();
    match (rewritten, theirs) {
        (Ok(()), Some(theirs)) => {
            file.blp = if draw.chance(50) { theirs } else { ours.into_bytes() };
            file.metadata = metadata;
            Ok(())
        }
        (Err(_), None) if !fits => Ok(()),
        (Ok(()), None) => fail("Bloscpack does not replace the metadata, and we do"),
        (Err(error), _) => Err(error).at("replacing the metadata"),
    }
}

/// Both read all of `file`, and agree on its content.
fn check(bench: &mut Bench, case: &Case, draw: &mut Draw, file: &File) -> Result<()> {
    let reply =
        bench.oracle.ask(json!({"op": "blp_read", "nthreads": case.threads}), &[&file.blp])?;
    check_facts(file, &reply)?;
    compare("read by Bloscpack", &file.data, &reply.into_first()?)?;
    compare("read by us", &file.data, &unpack(&file.blp)?)?;
    let blp = open(&file.blp)?;
    let report = blp.verify(&VerifyOptions::default(), |_| {})?;
    if !report.is_ok() {
        return fail(format!("verify: {report:?}"));
    }
    for _ in 0..3 {
        let start = draw.within(0..file.data.len() + 1);
        let end = file.data.len().min(start + draw.any_size(14));
        let mut part = vec![0xAA; end - start];
        let read = blp.read_at(start as u64, &mut part)?;
        compare(&format!("bytes {start}..{end}"), &file.data[start..end], &part[..read])?;
    }
    Ok(())
}

fn open(blp: &[u8]) -> Result<BlpFile<MemStore>> {
    Ok(BlpFile::new(MemStore::new(blp.to_vec()))?)
}

/// Compares Bloscpack's description of a file with the crate's.
fn check_facts(file: &File, reply: &Reply) -> Result<()> {
    let reader = Reader::new(file.blp.as_slice())?;
    let (header, theirs) = (reader.header(), &reply.facts["header"]);
    let expected = json!({
        "offsets": header.has_offsets(),
        "metadata": header.has_metadata(),
        "checksum": header.checksum().name(),
        "typesize": header.typesize(),
        "chunk_size": header.chunksize(),
        "last_chunk": header.last_chunk(),
        "nchunks": header.nchunks(),
        "max_app_chunks": header.max_app_chunks(),
    });
    let wrong = expected
        .as_object()
        .into_iter()
        .flatten()
        .find(|(key, ours)| theirs[key.as_str()] != **ours);
    if let Some((key, ours)) = wrong {
        return fail(format!("{key}: we say {ours}, Bloscpack says {}", theirs[key]));
    }
    let ours = reader.metadata().and_then(|metadata| metadata.json()).unwrap_or(&Value::Null);
    for (who, found) in [("Bloscpack", &reply.facts["metadata"]), ("we", ours)] {
        if *found != file.metadata {
            return fail(format!("metadata {} expected, {who} read {found}", file.metadata));
        }
    }
    Ok(())
}

/// Parameters of a file besides those of the chunks.
struct Packing {
    chunk_size: u32,
    offsets: bool,
    checksum: Checksum,
    /// Entries to reserve; `None` for ten of each chunk.
    reserve: Option<u64>,
    metadata: Value,
    meta_checksum: Checksum,
    meta_codec: MetadataCodec,
    meta_level: u8,
    meta_room: u32,
}

impl Packing {
    fn draw(draw: &mut Draw, case: &Case) -> Self {
        let checksum =
            |draw: &mut Draw| Checksum::from_id(u8::try_from(draw.within(0..9)).unwrap_or(0));
        // The chunk size need not be a whole number of items.
        let chunk_size =
            case.chunksize + if draw.chance(30) { draw.within(0..case.typesize) } else { 0 };
        Self {
            chunk_size: u32::try_from(chunk_size).unwrap_or(u32::MAX),
            offsets: draw.chance(75),
            checksum: checksum(draw).unwrap_or_default(),
            reserve: draw.chance(40).then(|| draw.any_size(6) as u64),
            metadata: if draw.chance(50) { value(draw, 3) } else { Value::Null },
            meta_checksum: checksum(draw).unwrap_or_default(),
            meta_codec: if draw.chance(70) { MetadataCodec::Zlib } else { MetadataCodec::None },
            meta_level: u8::try_from(draw.within(1..10)).unwrap_or(6),
            meta_room: u32::try_from(draw.within(1..12)).unwrap_or(10),
        }
    }

    /// Whether both programs write the same bytes, since the data are uncompressed.
    fn is_exact(&self, case: &Case) -> bool {
        case.level == 0 && self.meta_codec == MetadataCodec::None
    }

    fn request(&self, op: &str, case: &Case) -> Value {
        let mut request = blosc1_json(case, op);
        let more = json!({
            "through_file": case.through_file,
            "chunk_size": self.chunk_size,
            "offsets": self.offsets,
            "checksum": self.checksum.name(),
            "reserve": self.reserve,
            "metadata": self.metadata,
            "meta_checksum": self.meta_checksum.name(),
            "meta_codec": self.meta_codec.name(),
            "meta_level": self.meta_level,
            "meta_room": self.meta_room,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            request[key] = value.clone();
        }
        request
    }

    fn options(&self, case: &Case) -> WriteOptions {
        let metadata = MetadataOptions::default()
            .checksum(self.meta_checksum)
            .codec(self.meta_codec)
            .clevel(self.meta_level)
            .room(Room::Times(self.meta_room));
        WriteOptions::default()
            .chunksize(self.chunk_size)
            .offsets(self.offsets)
            .checksum(self.checksum)
            .reserve(self.reserve.map_or(Reserve::default(), Reserve::Entries))
            .metadata(Some(self.metadata.clone()))
            .metadata_options(metadata)
            .cparams(blosc1_cparams(case))
            .budget(Budget::default().threads(super::chunks::threads(case.threads)))
    }
}

/// Any JSON, except values that Python and this crate print differently.
fn value(draw: &mut Draw, depth: usize) -> Value {
    let one = |draw: &mut Draw| {
        if depth == 0 { json!(draw.any_size(40)) } else { value(draw, depth - 1) }
    };
    match draw.within(0..8) {
        0 => json!(draw.pick(&[
            "",
            "plain",
            "ä π 𝄞",
            "\"\\/\u{8}\n\u{1f}\u{7f}",
            "a longer text, a longer text"
        ])),
        1 => json!(draw.any_size(62)),
        2 => json!(draw.pick(&[0.5, -1.25, 0.1, 3.0, 1e-5])),
        3 => json!(draw.chance(50)),
        4 => (0..draw.within(0..5)).map(|_| one(draw)).collect(),
        _ => {
            let members = (0..draw.within(0..6)).map(|i| (format!("key {}", 9 - i), one(draw)));
            Value::Object(members.collect())
        }
    }
}
