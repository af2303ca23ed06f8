//! Chunks with known content: made by hand for one rule each, or written by the original libraries.

#[path = "support/text.rs"]
mod text;

use blosc_chunk::{
    Blame, Chunk, ChunkHeader, DParams, Decoder, Limits, Registries, Scratch, decompress,
};

use text::{hex, lines};

#[test]
fn hand_made_and_historical_chunks_are_accepted_or_refused_as_documented() {
    let mut count = 0;
    for line in lines("chunks/cases.txt") {
        let fields: Vec<&str> = line.split(' ').collect();
        let (name, outcome, chunk) = (fields[0], fields[1], hex(fields[2]));
        let result =
            Decoder::new(DParams::default().limits(Limits::none().max_nbytes(4096))).decode(&chunk);
        match outcome {
            "accept" => assert_eq!(result, Ok(hex(fields.get(3).unwrap_or(&""))), "{name}"),
            "corrupt" => assert_eq!(result.unwrap_err().blame(), Blame::Data, "{name}"),
            "not-ours" => assert_eq!(result.unwrap_err().blame(), Blame::NotOurs, "{name}"),
            other => panic!("{name}: {other}?"),
        }
        count += 1;
    }
    assert_eq!(count, 94 + 12);
}

#[test]
fn chunks_of_the_original_libraries_decode_whole_and_in_parts() {
    let mut data = std::collections::HashMap::new();
    let mut count = 0;
    for line in lines("chunks/vectors.txt") {
        let fields: Vec<&str> = line.splitn(4, ' ').collect();
        if fields[0] == "data" {
            data.insert(fields[1].to_owned(), hex(fields[2]));
            continue;
        }
        let (plain, bytes) = (&data[fields[1]], hex(fields[2]));
        count += 1;
        let codec = ChunkHeader::parse(&bytes).unwrap().codec_id();
        if Registries::default().codecs.get(codec).is_none() {
            // Built without the feature of this codec.
            assert_eq!(decompress(&bytes).unwrap_err().blame(), Blame::NotOurs, "{line}");
            continue;
        }
        assert_eq!(Decoder::default().decode(&bytes).as_ref(), Ok(plain), "{line}");
        check_parts(&Chunk::parse(&bytes).unwrap(), plain);
    }
    assert_eq!(count, 54);
}

fn check_parts(chunk: &Chunk<'_>, plain: &[u8]) {
    let mut scratch = Scratch::default();
    for start in (0..plain.len()).step_by(97) {
        for len in [0, 1, 5, 130, 700] {
            let end = (start + len).min(plain.len());
            let mut part = vec![0xaa; end - start];
            chunk.read_bytes(start..end, &mut part, &mut scratch).unwrap();
            assert_eq!(part, plain[start..end]);
        }
    }
}
