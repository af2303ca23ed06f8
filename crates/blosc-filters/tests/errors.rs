//! Each error with its cause and its message.

use std::sync::Arc;

use blosc_filters::{
    BlockGeometry, Error, Filter, FilterCx, FilterId, Param, Pipeline, Reference, Registry, Simd,
    Spec,
};

/// The error of filtering 12 bytes forward with one filter.
fn forward(id: FilterId, meta: u8, cx: &FilterCx<'_>) -> Error {
    let pipeline = Pipeline::from_slots([id.0, 0, 0, 0, 0, 0], [meta, 0, 0, 0, 0, 0]);
    pipeline.forward(&Registry::builtin(), cx, &[1; 12], &mut [0; 12], &mut [0; 12]).unwrap_err()
}

fn param(id: FilterId, what: Param) -> Error {
    Error::Param { id, what }
}

struct Refusing(u8);

impl Filter for Refusing {
    fn id(&self) -> FilterId {
        FilterId(self.0)
    }
    fn name(&self) -> &'static str {
        "refusing"
    }
    fn forward(&self, _: &FilterCx<'_>, _: u8, _: &[u8], _: &mut [u8]) -> Result<(), Error> {
        Err(param(self.id(), Param::Custom("no key was given")))
    }
    fn backward(
        &self,
        cx: &FilterCx<'_>,
        meta: u8,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<(), Error> {
        self.forward(cx, meta, src, dest)
    }
}

#[test]
fn unknown_filter() {
    let error = forward(FilterId(99), 0, &FilterCx::new(4));
    assert_eq!(error, Error::UnknownFilter { id: FilterId(99) });
    assert_eq!(error.to_string(), "filter 99 is not available");
}

#[test]
fn typesize() {
    let error = forward(FilterId::TRUNC_PREC, 8, &FilterCx::new(3));
    assert_eq!(error, param(FilterId::TRUNC_PREC, Param::Typesize { typesize: 3 }));
    assert_eq!(error.to_string(), "trunc_prec: typesize 3 is not supported");
}

#[test]
fn meta() {
    let error = forward(FilterId::INT_TRUNC, 127, &FilterCx::new(4));
    assert_eq!(error, param(FilterId::INT_TRUNC, Param::Meta { meta: 127, min: -31, max: 32 }));
    assert_eq!(error.to_string(), "int_trunc: meta 127 is outside -31..=32, or 0");
}

#[test]
fn reference() {
    let cx = FilterCx { reference: Reference::Block(&[0; 8]), ..FilterCx::new(4) };
    let error = forward(FilterId::DELTA, 0, &cx);
    assert_eq!(error, param(FilterId::DELTA, Param::Reference { reference: 8, block: 12 }));
    assert_eq!(error.to_string(), "delta: the reference block has 8 bytes, the block 12");
}

#[test]
fn shapes() {
    let error = |shape: &[u32], side| {
        let geometry = BlockGeometry::new(shape);
        forward(FilterId::NDCELL, side, &FilterCx { geometry: Some(&geometry), ..FilterCx::new(4) })
    };
    for (given, what, text) in [
        (
            error(&[1; 9], 1),
            Param::Dimensions { ndim: 9 },
            "ndcell: 9 dimensions are outside 1..=8",
        ),
        (
            error(&[4], 2),
            Param::Shape { block: 12 },
            "ndcell: the shape of the block does not fill its 12 bytes",
        ),
        (
            error(&[3], 4),
            Param::Cell { side: 4 },
            "ndcell: a cell of side 4 does not fit the block",
        ),
        (
            forward(FilterId::NDCELL, 1, &FilterCx::new(4)),
            Param::NoGeometry,
            "ndcell: the shape of the block is needed",
        ),
    ] {
        assert_eq!((given, given.to_string().as_str()), (param(FilterId::NDCELL, what), text));
    }
}

#[test]
fn custom() -> Result<(), Error> {
    let mut registry = Registry::builtin();
    registry.register(Arc::new(Refusing(160)))?;
    let error = Pipeline::parse("160")?
        .backward(&registry, &FilterCx::new(1), &mut [0], &mut [0])
        .unwrap_err();
    assert_eq!(error, param(FilterId(160), Param::Custom("no key was given")));
    assert_eq!(error.to_string(), "160: no key was given");
    Ok(())
}

#[test]
fn length() {
    let error = Pipeline::SHUFFLE.backward(
        &Registry::builtin(),
        &FilterCx::new(4),
        &mut [0; 4],
        &mut [0; 5],
    );
    let error = error.unwrap_err();
    assert_eq!(error, Error::Length { src: 4, dest: 5 });
    assert_eq!(error.to_string(), "the source has 4 bytes, the destination or scratch 5");
}

#[test]
fn specs() {
    for (spec, nfilter, what, text) in [
        ("shuffle,shufle", 1, Spec::Name, "filter 1 of the list: no filter has this name"),
        (
            "bytedelta:x",
            0,
            Spec::Meta,
            "filter 0 of the list: the parameter is not a number in -128..=255",
        ),
        (
            "ndcell",
            0,
            Spec::MetaNeeded { id: FilterId::NDCELL },
            "filter 0 of the list: ndcell needs a parameter, as in ndcell:8",
        ),
        ("1,2,1,2,1,2,1", 6, Spec::TooMany, "filter 6 of the list: more than 6 filters"),
    ] {
        let error = Pipeline::parse(spec).unwrap_err();
        assert_eq!((error, error.to_string().as_str()), (Error::Spec { nfilter, what }, text));
    }
}

#[test]
fn reserved_and_taken_ids() -> Result<(), Error> {
    let mut registry = Registry::builtin();
    let error = registry.register(Arc::new(Refusing(35))).unwrap_err();
    assert_eq!(error, Error::ReservedId { id: FilterId::BYTEDELTA });
    assert_eq!(error.to_string(), "filter id 35 is reserved, user-defined ones start at 160");
    registry.register(Arc::new(Refusing(255)))?;
    let error = registry.register(Arc::new(Refusing(255))).unwrap_err();
    assert_eq!(error, Error::IdTaken { id: FilterId(255) });
    assert_eq!(error.to_string(), "filter id 255 is taken");
    Ok(())
}

#[test]
fn simd() {
    let error = Simd::parse("altivec").unwrap_err();
    assert_eq!(error, Error::Simd);
    assert_eq!(
        error.to_string(),
        "these vector instructions are unknown, or this machine does not have them"
    );
}
