//! Arrays: made from buffers, in frames, and parts of them.
#![allow(unsafe_code, reason = "functions of a library that is loaded")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;

use blosc_capi::nd::b2nd_context_t;
use blosc_capi::types::{
    b2nd_array_t, blosc2_metalayer, blosc2_postfilter_params, blosc2_schunk, blosc2_storage,
};

use crate::library::Blosc2;
use crate::schunks::SChunk;

type CreateCtx = unsafe extern "C" fn(
    *const blosc2_storage,
    i8,
    *const i64,
    *const i32,
    *const i32,
    *const c_char,
    i8,
    *const blosc2_metalayer,
    i32,
) -> *mut b2nd_context_t;
type FreeCtx = unsafe extern "C" fn(*mut b2nd_context_t) -> c_int;
type Free = unsafe extern "C" fn(*mut b2nd_array_t) -> c_int;
type FromCbuffer =
    unsafe extern "C" fn(*mut b2nd_context_t, *mut *mut b2nd_array_t, *const c_void, i64) -> c_int;
type ToCframe =
    unsafe extern "C" fn(*const b2nd_array_t, *mut *mut u8, *mut i64, *mut bool) -> c_int;
type GetSlice = unsafe extern "C" fn(
    *const b2nd_array_t,
    *const i64,
    *const i64,
    *mut c_void,
    *const i64,
    i64,
) -> c_int;
type FromSchunk = unsafe extern "C" fn(*mut blosc2_schunk, *mut *mut b2nd_array_t) -> c_int;
type OpenOffset = unsafe extern "C" fn(*const c_char, *mut *mut b2nd_array_t, i64) -> c_int;
type CopyBuffer = unsafe extern "C" fn(
    i8,
    u8,
    *const c_void,
    *const i64,
    *const i64,
    *const i64,
    *mut c_void,
    *const i64,
    *const i64,
) -> c_int;

/// An array, freed when it is dropped.
struct Array<'a> {
    library: &'a Blosc2,
    handle: *mut b2nd_array_t,
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        let free = self.library.function::<Free>("b2nd_free");
        // SAFETY: made by the library.
        assert_eq!(unsafe { free(self.handle) }, 0);
    }
}

#[derive(Clone, Copy)]
struct Shapes<'a> {
    shape: &'a [i64],
    chunks: &'a [i32],
    blocks: &'a [i32],
}

const SHAPES: Shapes<'_> = Shapes { shape: &[10, 12], chunks: &[4, 5], blocks: &[3, 2] };

/// The items 0, 1, 2 of 4 bytes each.
fn items(shapes: Shapes<'_>) -> Vec<u8> {
    let nitems: i64 = shapes.shape.iter().product();
    (0..nitems).flat_map(|n| i32::try_from(n).unwrap().to_le_bytes()).collect()
}

impl Blosc2 {
    fn params(&self, is_contiguous: bool, shapes: Shapes<'_>) -> *mut b2nd_context_t {
        self.params_with(is_contiguous, shapes, 0)
    }

    fn params_with(
        &self,
        is_contiguous: bool,
        shapes: Shapes<'_>,
        format: i8,
    ) -> *mut b2nd_context_t {
        let mut cparams = blosc_capi::types::blosc2_cparams { blocksize: 0, ..self.cparams_of(1) };
        let storage = blosc2_storage {
            contiguous: u8::from(is_contiguous),
            urlpath: ptr::null_mut(),
            cparams: &raw mut cparams,
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        let (name, content) = (c"note", *b"text");
        let layer = blosc2_metalayer {
            name: name.as_ptr().cast_mut(),
            content: content.as_ptr().cast_mut(),
            content_len: 4,
        };
        let f = self.function::<CreateCtx>("b2nd_create_ctx");
        let Shapes { shape, chunks, blocks } = shapes;
        let ndim = i8::try_from(shape.len()).unwrap();
        let (shape, chunks, blocks) = (shape.as_ptr(), chunks.as_ptr(), blocks.as_ptr());
        // SAFETY: shapes are as long as it is told.
        unsafe {
            f(
                &raw const storage,
                ndim,
                shape,
                chunks,
                blocks,
                ptr::null(),
                format,
                &raw const layer,
                1,
            )
        }
    }

    fn array_of(
        &self,
        is_contiguous: bool,
        shapes: Shapes<'_>,
        items: &[u8],
    ) -> Result<Array<'_>, c_int> {
        self.array_by(self.params(is_contiguous, shapes), items)
    }

    /// Makes an array with parameters, and frees these.
    fn array_by(&self, params: *mut b2nd_context_t, items: &[u8]) -> Result<Array<'_>, c_int> {
        let f = self.function::<FromCbuffer>("b2nd_from_cbuffer");
        let mut handle = ptr::null_mut();
        let len = i64::try_from(items.len()).unwrap();
        // SAFETY: the buffer is as long as it is told.
        let code = unsafe { f(params, &raw mut handle, items.as_ptr().cast(), len) };
        let free = self.function::<FreeCtx>("b2nd_free_ctx");
        // SAFETY: made by the library.
        assert_eq!(unsafe { free(params) }, 0);
        if code < 0 { Err(code) } else { Ok(Array { library: self, handle }) }
    }

    fn of_frame(&self, frame: &mut [u8]) -> Result<Array<'_>, c_int> {
        let mut schunk = self.buffer(frame, false);
        let f = self.function::<FromSchunk>("b2nd_from_schunk");
        let mut handle = ptr::null_mut();
        // SAFETY: NULL or made by the library.
        let code = unsafe { f(schunk.handle, &raw mut handle) };
        if code < 0 {
            return Err(code);
        }
        schunk.handle = ptr::null_mut();
        Ok(Array { library: self, handle })
    }
}

impl Array<'_> {
    fn fields(&self) -> &b2nd_array_t {
        // SAFETY: made by the library.
        unsafe { &*self.handle }
    }

    fn frame(&self) -> (Vec<u8>, bool) {
        let f = self.library.function::<ToCframe>("b2nd_to_cframe");
        let (mut place, mut len, mut needs_free) = (ptr::null_mut(), 0, false);
        // SAFETY: all can be written to.
        let code = unsafe { f(self.handle, &raw mut place, &raw mut len, &raw mut needs_free) };
        assert_eq!(code, 0);
        if needs_free {
            let len = i32::try_from(len).unwrap();
            return (crate::library::taken(place.cast(), len), true);
        }
        let len = usize::try_from(len).unwrap();
        // SAFETY: the library says so.
        (unsafe { core::slice::from_raw_parts(place, len) }.to_vec(), false)
    }

    fn slice(&self, start: &[i64], stop: &[i64], room: &[i64]) -> Result<Vec<i32>, c_int> {
        let nitems: i64 = room.iter().product();
        let mut dest = vec![-1_i32; usize::try_from(nitems).unwrap()];
        let f = self.library.function::<GetSlice>("b2nd_get_slice_cbuffer");
        let (start, stop) = (start.as_ptr(), stop.as_ptr());
        let to = dest.as_mut_ptr().cast();
        // SAFETY: shapes have as many numbers as dimensions, and the buffer is as long.
        let code = unsafe { f(self.handle, start, stop, to, room.as_ptr(), nitems * 4) };
        if code < 0 { Err(code) } else { Ok(dest) }
    }
}

/// In a separate process: other tests reuse places.
#[test]
fn a_freed_array_is_a_code() {
    let library = Blosc2::load();
    blosc_testdata::in_child(|| {
        let array = library.array_of(false, SHAPES, &items(SHAPES)).unwrap();
        let freed = Array { library: &library, handle: array.handle };
        drop(array);
        assert_eq!(freed.slice(&[0, 0], &[1, 1], &[1, 1]), Err(-12));
        let free = library.function::<Free>("b2nd_free");
        // SAFETY: the place is empty, and stays.
        assert_eq!(unsafe { free(freed.handle) }, -12);
        core::mem::forget(freed);
    });
}

#[test]
fn items_come_back_whatever_the_shapes() {
    let library = Blosc2::load();
    let all: [Shapes<'_>; 5] = [
        SHAPES,
        Shapes { shape: &[], chunks: &[], blocks: &[] },
        Shapes { shape: &[1000], chunks: &[300], blocks: &[70] },
        Shapes { shape: &[6, 8], chunks: &[6, 8], blocks: &[2, 8] },
        Shapes { shape: &[3, 4, 5], chunks: &[2, 4, 3], blocks: &[2, 2, 2] },
    ];
    for shapes in all {
        for is_contiguous in [false, true] {
            let array = library.array_of(is_contiguous, shapes, &items(shapes)).unwrap();
            let start = vec![0; shapes.shape.len()];
            let read = array.slice(&start, shapes.shape, shapes.shape).unwrap();
            assert!(read.iter().copied().zip(0..).all(|(a, b)| a == b), "{:?}", shapes.shape);
            let (mut frame, needs_free) = array.frame();
            assert_eq!(needs_free, !is_contiguous);
            let again = library.of_frame(&mut frame).unwrap();
            assert_eq!(again.slice(&start, shapes.shape, shapes.shape), Ok(read));
        }
    }
}

#[test]
fn fields_are_those_of_the_shapes() {
    let library = Blosc2::load();
    let array = library.array_of(false, SHAPES, &items(SHAPES)).unwrap();
    let fields = array.fields();
    assert_eq!(fields.shape[..3], [10, 12, 1]);
    assert_eq!((fields.extshape[..2].to_vec(), fields.extchunkshape[1]), (vec![12, 15], 6));
    assert_eq!((fields.nitems, fields.chunknitems, fields.extnitems), (120, 20, 180));
    assert_eq!((fields.blocknitems, fields.extchunknitems, fields.ndim), (6, 36, 2));
    assert_eq!(fields.item_array_strides[..2], [12, 1]);
    assert_eq!(fields.chunk_cache.nchunk, -1);
    // SAFETY: a text.
    assert_eq!(unsafe { CStr::from_ptr(fields.dtype) }, c"|S4");
    // SAFETY: the array has a super-chunk.
    let schunk = unsafe { &*fields.sc };
    assert_eq!((schunk.nmetalayers, schunk.chunksize, schunk.blocksize), (2, 144, 24));
    // SAFETY: both metalayers are there.
    let layers = [0, 1].map(|n| unsafe { *schunk.metalayers[n] });
    // SAFETY: names are texts.
    let names = layers.map(|layer| unsafe { CStr::from_ptr(layer.name) });
    assert_eq!(names, [c"b2nd", c"note"]);
}

#[test]
fn a_part_goes_to_the_start_of_the_buffer() {
    let library = Blosc2::load();
    let array = library.array_of(true, SHAPES, &items(SHAPES)).unwrap();
    let part = array.slice(&[3, 4], &[5, 7], &[3, 4]).unwrap();
    assert_eq!(part, [40, 41, 42, 0, 52, 53, 54, 0, 0, 0, 0, 0]);
    // Bytes after the end are zeros.
    assert_eq!(array.slice(&[9, 11], &[11, 13], &[2, 2]).unwrap(), [119, 0, 0, 0]);
    assert_eq!(array.slice(&[-1, 0], &[1, 1], &[2, 2]), Err(-1));
    assert_eq!(array.slice(&[0, 0], &[3, 3], &[2, 2]), Err(-12));
}

#[test]
fn a_postfilter_of_the_client_is_told_the_chunk() {
    unsafe extern "C" fn adds(params: *mut blosc2_postfilter_params) -> c_int {
        // SAFETY: the library passes valid arguments.
        let p = unsafe { &*params };
        let len = usize::try_from(p.size).unwrap();
        // SAFETY: the header says so.
        let input = unsafe { core::slice::from_raw_parts(p.input, len) };
        // SAFETY: the header says so.
        let output = unsafe { core::slice::from_raw_parts_mut(p.output, len) };
        let (input, output) = (input.as_chunks::<4>().0, output.as_chunks_mut::<4>().0);
        for (to, from) in output.iter_mut().zip(input) {
            let value = i32::from_le_bytes(*from) + 1000 * i32::try_from(p.nchunk).unwrap();
            *to = value.to_le_bytes();
        }
        0
    }
    let library = Blosc2::load();
    let array = library.array_of(false, SHAPES, &items(SHAPES)).unwrap();
    let schunk = array.fields().sc;
    // SAFETY: the array has a super-chunk.
    library.free(unsafe { (*schunk).dctx });
    let dparams = blosc_capi::types::blosc2_dparams {
        schunk: schunk.cast(),
        postfilter: Some(adds),
        ..library.dparams()
    };
    let mut context = library.decompressor(dparams);
    // SAFETY: the super-chunk owns the context from now on.
    unsafe { (*schunk).dctx = core::mem::replace(&mut context.handle, ptr::null_mut()) };
    assert_eq!(array.slice(&[4, 5], &[5, 6], &[1, 1]).unwrap(), [53 + 4000]);
}

#[test]
fn arrays_in_files_are_opened_where_they_begin() {
    let library = Blosc2::load();
    let folder = tempfile::tempdir().unwrap();
    let (frame, _) = library.array_of(false, SHAPES, &items(SHAPES)).unwrap().frame();
    let path = folder.path().join("arrays");
    std::fs::write(&path, [&[7; 50], &*frame].concat()).unwrap();
    let text = CString::new(path.to_str().unwrap()).unwrap();
    let open = library.function::<OpenOffset>("b2nd_open_offset");
    let mut handle = ptr::null_mut();
    // SAFETY: a text, and a place to write to.
    assert_eq!(unsafe { open(text.as_ptr(), &raw mut handle, 50) }, 0);
    let array = Array { library: &library, handle };
    assert_eq!(array.slice(&[9, 0], &[10, 3], &[1, 3]).unwrap(), [108, 109, 110]);
    let mut none = ptr::null_mut();
    // SAFETY: the same.
    assert_eq!(unsafe { open(text.as_ptr(), &raw mut none, 0) }, -32);
    assert!(none.is_null());
}

#[test]
fn what_is_no_array_is_a_code() {
    let library = Blosc2::load();
    let bad = [
        Shapes { shape: &[-5], chunks: &[1], blocks: &[1] },
        Shapes { shape: &[5], chunks: &[-2], blocks: &[1] },
        Shapes { shape: &[5], chunks: &[2], blocks: &[0] },
        Shapes { shape: &[1; 17], chunks: &[1; 17], blocks: &[1; 17] },
    ];
    for shapes in bad {
        assert!(library.params(false, shapes).is_null());
    }
    assert_eq!(library.array_of(false, SHAPES, &items(SHAPES)[1..]).err(), Some(-12));
    let zero = Shapes { shape: &[5], chunks: &[0], blocks: &[0] };
    assert_eq!(library.array_of(false, zero, &[0; 20]).err(), Some(-12));
    let mut plain = b2frame::to_cframe(&[1; 100], &b2frame::FrameParams::default()).unwrap();
    assert_eq!(library.of_frame(&mut plain).err(), Some(-34));
    let mut none = ptr::null_mut();
    let from = library.function::<FromCbuffer>("b2nd_from_cbuffer");
    // SAFETY: NULL is looked at.
    assert_eq!(unsafe { from(ptr::null_mut(), &raw mut none, [0].as_ptr().cast(), 1) }, -32);
}

#[test]
fn every_changed_byte_of_the_frame_of_an_array_is_survived() {
    let library = Blosc2::load();
    let (frame, _) = library.array_of(true, SHAPES, &items(SHAPES)).unwrap().frame();
    let mut nread = 0;
    for at in 0..frame.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = frame.clone();
            bytes[at] ^= flip;
            let Ok(array) = library.of_frame(&mut bytes) else { continue };
            if array.fields().ndim == 2 {
                nread += usize::from(array.slice(&[0, 0], &[10, 12], &[10, 12]).is_ok());
            }
        }
    }
    assert!(nread > 0);
}

#[test]
fn boxes_of_buffers_are_copied() {
    let library = Blosc2::load();
    let copy = library.function::<CopyBuffer>("b2nd_copy_buffer");
    let (src, mut dest) = (*b"abcdef", *b"........");
    let (two, zero) = ([2_i64, 3], [0_i64, 1]);
    // SAFETY: shapes have two numbers, and the buffers are as long.
    let mut run = |stop: [i64; 2]| unsafe {
        copy(
            2,
            1,
            src.as_ptr().cast(),
            two.as_ptr(),
            zero.as_ptr(),
            stop.as_ptr(),
            dest.as_mut_ptr().cast(),
            [2_i64, 4].as_ptr(),
            [0_i64, 2].as_ptr(),
        )
    };
    assert_eq!([run([2, 3]), run([2, 4]), run([0, 0])], [0, -12, -12]);
    assert_eq!(&dest, b"..bc..ef");
}

#[test]
fn numbers_and_positions_are_inverse() {
    type To = unsafe extern "C" fn(u8, *const i64, i64, *mut i64);
    type From = unsafe extern "C" fn(*const i64, i8, *const i64, *mut i64);
    let library = Blosc2::load();
    let (mut index, mut back) = ([0_i64; 3], 0_i64);
    let shape = [4_i64, 5, 6];
    let to = library.function::<To>("blosc2_unidim_to_multidim");
    let from = library.function::<From>("blosc2_multidim_to_unidim");
    // SAFETY: three numbers each.
    unsafe { to(3, shape.as_ptr(), 77, index.as_mut_ptr()) };
    // SAFETY: three numbers each.
    unsafe { from(index.as_ptr(), 3, [30_i64, 6, 1].as_ptr(), &raw mut back) };
    // SAFETY: three numbers each.
    unsafe { to(3, [0_i64; 3].as_ptr(), 5, index.as_mut_ptr()) };
    assert_eq!((index, back), ([0, 0, 5], 77));
}

#[test]
fn the_format_of_a_type_is_kept_in_frames() {
    let library = Blosc2::load();
    for format in [0, 1, 2, 127] {
        let params = library.params_with(true, SHAPES, format);
        let array = library.array_by(params, &items(SHAPES)).unwrap();
        // SAFETY: made by the library.
        assert_eq!(unsafe { (*array.handle).dtype_format }, format);
        // SAFETY: made by the library.
        let schunk = SChunk { library: &library, handle: unsafe { (*array.handle).sc } };
        let mut frame = schunk.frame().unwrap().bytes;
        core::mem::forget(schunk);
        let copy = library.of_frame(&mut frame).unwrap();
        // SAFETY: made by the library.
        assert_eq!(unsafe { (*copy.handle).dtype_format }, format);
    }
    for format in [-1, -128] {
        let params = library.params_with(true, SHAPES, format);
        assert!(!params.is_null());
        assert_eq!(library.array_by(params, &items(SHAPES)).err(), Some(-1));
    }
}
