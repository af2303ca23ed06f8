//! The output of C-Blosc2 and C-Blosc for given blocks, in `testdata/vectors/filters.json`: each
//! filter alone and some pipelines, forward and backward, with every set of vector instructions of
//! the machine.

#![expect(clippy::unwrap_used, reason = "a test")]

use blosc_filters::{BitshuffleRule, BlockGeometry, FilterCx, Pipeline, Reference, Registry, Simd};
use serde_json::Value;

#[test]
fn filters_give_the_bytes_of_c_blosc2() {
    for vector in load("filters") {
        let (input, output) = (hex(&vector, "input").unwrap(), hex(&vector, "output").unwrap());
        let pipeline = Pipeline::from_slots(
            [0, byte(&vector, "id"), 0, 0, 0, 0],
            [0, byte(&vector, "meta"), 0, 0, 0, 0],
        );
        let blocksize = vector["blocksize"]
            .as_u64()
            .map_or(input.len().max(1), |n| usize::try_from(n).unwrap());
        let reference = hex(&vector, "reference");
        let reference = reference.as_deref().map_or(Reference::FirstBlock, Reference::Block);
        let backward = hex(&vector, "backward").unwrap_or(input.clone());
        for (n, start) in (0..input.len().max(1)).step_by(blocksize).enumerate() {
            let block = start..input.len().min(start + blocksize);
            let what =
                format!("filter {}, typesize {}, block {n}", vector["id"], vector["typesize"]);
            check(
                &vector,
                &what,
                pipeline,
                reference,
                [&input[block.clone()], &output[block.clone()], &backward[block]],
            );
        }
    }
}

#[test]
fn pipelines_give_the_bytes_of_c_blosc2() {
    for vector in load("pipelines") {
        let (input, output) = (hex(&vector, "input").unwrap(), hex(&vector, "output").unwrap());
        let decoded = hex(&vector, "decoded").unwrap_or(input.clone());
        let blocksize = usize::try_from(vector["blocksize"].as_u64().unwrap()).unwrap();
        let mut slots = [[0; 6]; 2];
        for (slot, (filter, meta)) in
            array(&vector, "filters").iter().zip(array(&vector, "meta")).enumerate()
        {
            (slots[0][slot], slots[1][slot]) =
                (u8::try_from(*filter).unwrap(), u8::try_from(meta).unwrap());
        }
        let pipeline = Pipeline::from_slots(slots[0], slots[1]);
        let blocks =
            input.chunks(blocksize).zip(output.chunks(blocksize)).zip(decoded.chunks(blocksize));
        for (n, ((input, output), decoded_block)) in blocks.enumerate() {
            let first = Reference::Block(&decoded[..blocksize]);
            let reference = if n == 0 { Reference::FirstBlock } else { first };
            check(
                &vector,
                &format!("{pipeline}, block {n}"),
                pipeline,
                reference,
                [input, output, decoded_block],
            );
        }
    }
}

/// Filters `input` forward to `output`, and that back to `decoded`, on every level of instructions.
fn check(
    vector: &Value,
    what: &str,
    pipeline: Pipeline,
    reference: Reference<'_>,
    blocks: [&[u8]; 3],
) {
    let [input, output, decoded] = blocks;
    let shape = array(vector, "blockshape");
    let geometry = BlockGeometry::new(&shape);
    for simd in Simd::available() {
        let cx = FilterCx {
            reference,
            bitshuffle: if vector["chunk_version"] == 2 {
                BitshuffleRule::Blosc1
            } else {
                BitshuffleRule::Blosc2
            },
            geometry: Some(&geometry),
            simd,
            ..FilterCx::new(byte(vector, "typesize").into())
        };
        let (mut filtered, mut scratch) = (vec![0xEE; input.len()], vec![0xDD; input.len()]);
        pipeline.forward(&Registry::builtin(), &cx, input, &mut filtered, &mut scratch).unwrap();
        // Lossy filters work in the machine's byte order; that of the vectors is little-endian.
        if cfg!(target_endian = "little") || !pipeline.is_lossy(&Registry::builtin()) {
            assert_eq!(filtered, output, "{what} forward, {simd:?}");
        } else {
            filtered.copy_from_slice(output);
        }
        let mut restored = vec![0xEE; input.len()];
        pipeline.backward(&Registry::builtin(), &cx, &mut filtered, &mut restored).unwrap();
        assert_eq!(restored, decoded, "{what} backward, {simd:?}");
    }
}

fn load(section: &str) -> Vec<Value> {
    let file: Value =
        serde_json::from_slice(&blosc_testdata::fixture::read("vectors/filters.json").unwrap())
            .unwrap();
    let vectors = file[section].as_array().unwrap().clone();
    assert!(!vectors.is_empty());
    vectors
}

fn byte(vector: &Value, field: &str) -> u8 {
    u8::try_from(vector[field].as_u64().unwrap()).unwrap()
}

fn array(vector: &Value, field: &str) -> Vec<u32> {
    let numbers = vector[field].as_array().map(Vec::as_slice).unwrap_or_default();
    numbers.iter().map(|number| u32::try_from(number.as_u64().unwrap()).unwrap()).collect()
}

fn hex(vector: &Value, field: &str) -> Option<Vec<u8>> {
    let digits = vector[field].as_str()?;
    Some(
        digits
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect(),
    )
}
