//! Super-chunks: in memory, in frames of a client, in files.
#![allow(unsafe_code, reason = "functions of a library that is loaded")]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;
use std::path::Path;

use blosc_capi::types::{
    blosc2_cparams, blosc2_dparams, blosc2_prefilter_params, blosc2_schunk, blosc2_storage,
};

use crate::library::{Blosc2, data, taken};

type New = unsafe extern "C" fn(*mut blosc2_storage) -> *mut blosc2_schunk;
type Free = unsafe extern "C" fn(*mut blosc2_schunk) -> c_int;
type Append = unsafe extern "C" fn(*mut blosc2_schunk, *const c_void, i32) -> i64;
type FromBuffer = unsafe extern "C" fn(*mut u8, i64, bool) -> *mut blosc2_schunk;
type ToBuffer = unsafe extern "C" fn(*mut blosc2_schunk, *mut *mut u8, *mut bool) -> i64;
type GetLazy = unsafe extern "C" fn(*mut blosc2_schunk, i64, *mut *mut u8, *mut bool) -> c_int;
type OpenAt = unsafe extern "C" fn(*const c_char, i64) -> *mut blosc2_schunk;

/// A super-chunk, freed when it is dropped.
pub(crate) struct SChunk<'a> {
    pub(crate) library: &'a Blosc2,
    pub(crate) handle: *mut blosc2_schunk,
}

/// The bytes from the library, and whether they have to be freed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) bytes: Vec<u8>,
    pub(crate) place: *mut u8,
    pub(crate) needs_free: bool,
}

impl Blosc2 {
    pub(crate) fn cparams_of(&self, compcode: u8) -> blosc2_cparams {
        blosc2_cparams { compcode, typesize: 4, blocksize: 4096, ..self.cparams() }
    }

    fn schunk_with(
        &self,
        is_contiguous: bool,
        path: Option<&CStr>,
        mut cparams: blosc2_cparams,
    ) -> SChunk<'_> {
        let mut storage = blosc2_storage {
            contiguous: u8::from(is_contiguous),
            urlpath: path.map_or(ptr::null_mut(), |path| path.as_ptr().cast_mut()),
            cparams: &raw mut cparams,
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        let new = self.function::<New>("blosc2_schunk_new");
        // SAFETY: the storage is whole.
        SChunk { library: self, handle: unsafe { new(&raw mut storage) } }
    }

    pub(crate) fn schunk(&self, is_contiguous: bool) -> SChunk<'_> {
        self.schunk_with(is_contiguous, None, self.cparams_of(1))
    }

    pub(crate) fn buffer(&self, frame: &mut [u8], copy: bool) -> SChunk<'_> {
        let f = self.function::<FromBuffer>("blosc2_schunk_from_buffer");
        let len = i64::try_from(frame.len()).unwrap();
        // SAFETY: the buffer is as long as it is told, and outlives the super-chunk.
        SChunk { library: self, handle: unsafe { f(frame.as_mut_ptr(), len, copy) } }
    }

    fn open_at(&self, path: &Path, offset: i64) -> SChunk<'_> {
        let f = self.function::<OpenAt>("blosc2_schunk_open_offset");
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the path is a text.
        SChunk { library: self, handle: unsafe { f(path.as_ptr(), offset) } }
    }
}

impl SChunk<'_> {
    pub(crate) fn fields(&self) -> &blosc2_schunk {
        // SAFETY: the library made it.
        unsafe { &*self.handle }
    }

    pub(crate) fn append(&self, data: &[u8]) -> i64 {
        let f = self.library.function::<Append>("blosc2_schunk_append_buffer");
        // SAFETY: the buffer is as long as it is told.
        unsafe { f(self.handle, data.as_ptr().cast(), i32::try_from(data.len()).unwrap()) }
    }

    pub(crate) fn frame(&self) -> Result<Given, i64> {
        let f = self.library.function::<ToBuffer>("blosc2_schunk_to_buffer");
        let (mut place, mut needs_free) = (ptr::null_mut(), false);
        // SAFETY: both can be written to.
        let len = unsafe { f(self.handle, &raw mut place, &raw mut needs_free) };
        Ok(given(place, usize::try_from(len).map_err(|_| len)?, needs_free))
    }

    pub(crate) fn lazy(&self, nchunk: i64) -> Result<Given, c_int> {
        let f = self.library.function::<GetLazy>("blosc2_schunk_get_lazychunk");
        let (mut place, mut needs_free) = (ptr::null_mut(), false);
        // SAFETY: both can be written to.
        let len = unsafe { f(self.handle, nchunk, &raw mut place, &raw mut needs_free) };
        Ok(given(place, usize::try_from(len).map_err(|_| len)?, needs_free))
    }

    /// Decompresses a chunk with a new context.
    pub(crate) fn read(&self, nchunk: i64, nbytes: usize) -> Vec<u8> {
        let chunk = self.lazy(nchunk).unwrap();
        let context = self.reader();
        let mut dest = vec![0; nbytes];
        assert_eq!(
            context.decompress_into(&chunk.bytes, &mut dest),
            i32::try_from(nbytes).unwrap()
        );
        dest
    }

    fn reader(&self) -> crate::library::Context<'_> {
        let schunk = self.handle.cast();
        self.library.decompressor(blosc2_dparams { schunk, ..self.library.dparams() })
    }
}

fn given(place: *mut u8, len: usize, needs_free: bool) -> Given {
    if needs_free {
        let bytes = taken(place.cast(), i32::try_from(len).unwrap());
        return Given { bytes, place, needs_free };
    }
    // SAFETY: the library says so.
    let bytes = unsafe { core::slice::from_raw_parts(place, len) }.to_vec();
    Given { bytes, place, needs_free }
}

impl Drop for SChunk<'_> {
    fn drop(&mut self) {
        let free = self.library.function::<Free>("blosc2_schunk_free");
        let is_there = !self.handle.is_null();
        // SAFETY: NULL or made by the library.
        assert_eq!(unsafe { free(self.handle) }, if is_there { 0 } else { -32 });
    }
}

/// In a separate process: other tests reuse places.
#[test]
fn a_freed_super_chunk_is_a_code() {
    let library = Blosc2::load();
    blosc_testdata::in_child(|| {
        let schunk = library.schunk(true);
        schunk.append(&data(4000));
        let freed = SChunk { library: &library, handle: schunk.handle };
        drop(schunk);
        assert_eq!((freed.append(&data(40)), freed.frame()), (-12, Err(-12)));
        assert_eq!(freed.lazy(0), Err(-12));
        let free = library.function::<Free>("blosc2_schunk_free");
        // SAFETY: the place is empty, and stays.
        assert_eq!(unsafe { free(freed.handle) }, -12);
        core::mem::forget(freed);
    });
}

#[test]
fn fields_tell_what_was_appended() {
    let library = Blosc2::load();
    for is_contiguous in [false, true] {
        let schunk = library.schunk(is_contiguous);
        let before = *schunk.fields();
        assert_eq!((before.chunksize, before.nchunks, before.typesize), (-1, 0, 4));
        assert_eq!((before.frame.is_null(), before.data.is_null()), (!is_contiguous, true));
        assert_eq!(schunk.append(&data(20_000)), 1);
        assert_eq!(schunk.append(&vec![0; 20_000]), 2);
        assert_eq!(schunk.append(&data(500)), 3);
        let fields = schunk.fields();
        assert_eq!((fields.chunksize, fields.nchunks, fields.nbytes), (20_000, 3, 40_500));
        assert_eq!((fields.current_nchunk, fields.data.is_null()), (2, is_contiguous));
        let chunks: Vec<Given> = (0..3).map(|n| schunk.lazy(n).unwrap()).collect();
        assert_eq!(chunks[1].bytes.len(), 32);
        // A run takes no bytes of a frame.
        let stored = chunks.iter().map(|chunk| chunk.bytes.len()).sum::<usize>();
        let stored = stored - if is_contiguous { 32 } else { 0 };
        assert_eq!(usize::try_from(fields.cbytes).unwrap(), stored);
        assert_eq!(schunk.read(0, 20_000), data(20_000));
        assert_eq!(schunk.append(&data(20_000)), 4);
        assert_eq!(schunk.fields().chunksize, 0);
        assert_eq!([-1, 4].map(|n| schunk.lazy(n).unwrap_err()), [-12, -12]);
    }
}

#[test]
fn chunks_in_memory_are_where_the_table_says() {
    let library = Blosc2::load();
    let schunk = library.schunk(false);
    for n in 1..=600 {
        assert_eq!(schunk.append(&data(40)), n);
    }
    let fields = schunk.fields();
    assert!(fields.data_len >= 600 * 8);
    for n in [0, 1, 511, 512, 599] {
        // SAFETY: the table has a place for each chunk.
        let place = unsafe { fields.data.wrapping_add(n).read() };
        let chunk = schunk.lazy(i64::try_from(n).unwrap()).unwrap();
        assert_eq!((chunk.place, chunk.needs_free), (place, false));
    }
}

#[test]
fn a_frame_holds_the_super_chunk_and_is_freed_by_who_has_it() {
    let library = Blosc2::load();
    for is_contiguous in [false, true] {
        let schunk = library.schunk(is_contiguous);
        schunk.append(&data(20_000));
        schunk.append(&[0; 20_000]);
        let frame = schunk.frame().unwrap();
        assert_eq!(frame.needs_free, !is_contiguous);
        assert!(!is_contiguous || schunk.frame().unwrap().place == frame.place);
        assert_eq!(schunk.append(&data(20_000)), 3);
        let longer = schunk.frame().unwrap();
        assert!(longer.bytes.len() > frame.bytes.len());
        let read = b2frame::SChunk::from_cframe(longer.bytes).unwrap();
        assert_eq!((read.nchunks(), read.nbytes()), (3, 60_000));
        assert_eq!(read.decode_chunk(2).unwrap(), data(20_000));
    }
}

#[test]
fn chunks_of_several_sizes_make_a_frame_too() {
    let library = Blosc2::load();
    let schunk = library.schunk(true);
    for nbytes in [400, 20, 800] {
        schunk.append(&data(nbytes));
    }
    let read = b2frame::SChunk::from_cframe(schunk.frame().unwrap().bytes).unwrap();
    assert_eq!((0..3).map(|n| read.chunk_nbytes(n).unwrap()).collect::<Vec<_>>(), [400, 20, 800]);
}

#[test]
fn a_buffer_is_read_where_it_lies_and_stays_as_it_is() {
    let library = Blosc2::load();
    let made = library.schunk(true);
    made.append(&data(20_000));
    made.append(&[0; 20_000]);
    let mut frame = made.frame().unwrap().bytes;
    let before = frame.clone();
    let range = frame.as_mut_ptr_range();
    {
        let schunk = library.buffer(&mut frame, false);
        assert!(!schunk.fields().frame.is_null());
        let chunk = schunk.lazy(0).unwrap();
        assert!(range.contains(&chunk.place) && !chunk.needs_free);
        assert_eq!(schunk.frame().unwrap().place, range.start);
        assert!(schunk.lazy(1).unwrap().needs_free);
        assert_eq!(schunk.read(0, 20_000), data(20_000));
        // The first change copies the chunks.
        assert_eq!(schunk.append(&data(20_000)), 3);
        assert_ne!(schunk.frame().unwrap().place, range.start);
        assert_eq!(schunk.read(2, 20_000), data(20_000));
    }
    assert_eq!(frame, before);
    {
        let schunk = library.buffer(&mut frame, true);
        assert!(schunk.fields().frame.is_null());
        assert!(!range.contains(&schunk.lazy(0).unwrap().place));
    }
    frame.push(0);
    assert!(library.buffer(&mut frame, false).handle.is_null());
    let cut = before.len() - 1;
    assert!(library.buffer(&mut frame[..cut], true).handle.is_null());
}

#[test]
fn a_buffer_that_was_given_away_is_freed() {
    unsafe extern "C" {
        fn malloc(nbytes: usize) -> *mut u8;
    }
    type Avoid = unsafe extern "C" fn(*mut blosc2_schunk, bool);
    let library = Blosc2::load();
    let made = library.schunk(true);
    made.append(&data(4000));
    let frame = made.frame().unwrap().bytes;
    // SAFETY: any length will do.
    let place = unsafe { malloc(frame.len()) };
    // SAFETY: the memory was made as long.
    unsafe { place.copy_from_nonoverlapping(frame.as_ptr(), frame.len()) };
    // SAFETY: as above.
    let schunk =
        library.buffer(unsafe { core::slice::from_raw_parts_mut(place, frame.len()) }, false);
    let avoid = library.function::<Avoid>("blosc2_schunk_avoid_cframe_free");
    for is_avoided in [false, false, true, false] {
        // SAFETY: the buffer comes from C's allocator.
        unsafe { avoid(schunk.handle, is_avoided) };
    }
    assert_eq!(schunk.read(0, 4000), data(4000));
}

#[test]
fn chunks_in_files_are_lazy_and_found_again() {
    let library = Blosc2::load();
    let folder = tempfile::tempdir().unwrap();
    let made = library.schunk(true);
    made.append(&data(20_000));
    made.append(&[0; 20_000]);
    made.append(&data(600));
    let path = folder.path().join("frames");
    std::fs::write(&path, [&[7; 100], &*made.frame().unwrap().bytes].concat()).unwrap();
    let schunk = library.open_at(&path, 100);
    let lazy = schunk.lazy(0).unwrap();
    assert_eq!((lazy.needs_free, lazy.bytes[31] & 8), (true, 8));
    assert!(lazy.bytes.len() < 100);
    assert_eq!(schunk.lazy(1).unwrap().bytes.len(), 32);
    assert_eq!(schunk.read(0, 20_000), data(20_000));
    assert_eq!(schunk.read(1, 20_000), [0; 20_000]);
    assert_eq!(schunk.read(2, 600), data(600));
    let mut part = [0; 40];
    let context = schunk.reader();
    assert_eq!(context.items("blosc2_getitem_ctx", &lazy.bytes, (100, 10), &mut part), 40);
    assert_eq!(part, data(20_000)[400..440]);
    // Only the super-chunk locates the data.
    let other = library.decompressor(library.dparams());
    assert_eq!(other.decompress_into(&lazy.bytes, &mut [0; 20_000]), -12);
    for offset in [0, 99, -1, 1 << 40] {
        assert!(library.open_at(&path, offset).handle.is_null());
    }
    assert!(library.open_at(&folder.path().join("nothing"), 0).handle.is_null());
}

#[test]
fn lazy_chunks_are_not_believed() {
    let library = Blosc2::load();
    let folder = tempfile::tempdir().unwrap();
    let made = library.schunk(true);
    made.append(&data(20_000));
    let path = folder.path().join("frame");
    std::fs::write(&path, made.frame().unwrap().bytes).unwrap();
    let schunk = library.open_at(&path, 0);
    let lazy = schunk.lazy(0).unwrap().bytes;
    let context = schunk.reader();
    let mut dest = vec![0; 20_000];
    for at in 0..lazy.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = lazy.clone();
            bytes[at] ^= flip;
            let code = context.decompress_into(&bytes, &mut dest);
            assert!(code < 0 || dest == data(20_000), "{at} {flip}: {code}");
            let code = context.items("blosc2_getitem_ctx", &bytes, (1, 2), &mut [0; 2000]);
            assert!((-37..=2 * 255).contains(&code));
        }
    }
    for len in 0..lazy.len() {
        assert!(context.decompress_into(&lazy[..len], &mut dest) < 0);
    }
    std::fs::write(&path, b"").unwrap();
    assert_eq!(context.decompress_into(&lazy, &mut dest), -13);
}

#[test]
fn new_files_are_there_at_once_and_never_overwritten() {
    let library = Blosc2::load();
    let folder = tempfile::tempdir().unwrap();
    for is_contiguous in [false, true] {
        let path = folder.path().join(if is_contiguous { "frame" } else { "folder" });
        let text = CString::new(path.to_str().unwrap()).unwrap();
        let make = || library.schunk_with(is_contiguous, Some(&text), library.cparams_of(1));
        let schunk = make();
        assert_eq!(b2frame::SChunk::open(&path).unwrap().nchunks(), 0);
        assert_eq!(schunk.append(&data(20_000)), 1);
        assert_eq!(schunk.append(&[0; 20_000]), 2);
        assert_eq!(schunk.append(&data(500)), 3);
        let read = b2frame::SChunk::open(&path).unwrap();
        assert_eq!((read.nchunks(), read.nbytes()), (3, 40_500));
        assert_eq!(read.decode_chunk(0).unwrap(), data(20_000));
        assert_eq!(schunk.read(0, 20_000), data(20_000));
        assert_eq!(schunk.read(2, 500), data(500));
        assert!(schunk.frame().unwrap().needs_free);
        assert!(make().handle.is_null());
        drop(schunk);
        let again = library.open_at(&path, 0);
        assert_eq!(again.append(&data(20_000)), 4);
        assert_eq!(again.read(3, 20_000), data(20_000));
    }
}

#[test]
fn the_contexts_that_the_struct_has_now_are_used() {
    unsafe extern "C" fn inverts(params: *mut blosc2_prefilter_params) -> c_int {
        // SAFETY: the library passes valid arguments.
        let p = unsafe { &*params };
        let len = usize::try_from(p.output_size).unwrap();
        // SAFETY: the header says so.
        let input = unsafe { core::slice::from_raw_parts(p.input, len) };
        // SAFETY: the header says so.
        let output = unsafe { core::slice::from_raw_parts_mut(p.output, len) };
        output.iter_mut().zip(input).for_each(|(to, from)| *to = !from);
        // SAFETY: the test passed a list.
        unsafe { &mut *p.user_data.cast::<Vec<i64>>() }.push(p.nchunk);
        0
    }
    let library = Blosc2::load();
    let mut seen: Vec<i64> = vec![];
    // SAFETY: all fields may be zeros.
    let zeros: blosc2_prefilter_params = unsafe { core::mem::zeroed() };
    let mut params = blosc2_prefilter_params { user_data: (&raw mut seen).cast(), ..zeros };
    let schunk = library.schunk(false);
    assert_eq!(schunk.append(&data(4096)), 1);
    let cparams = blosc2_cparams {
        prefilter: Some(inverts),
        preparams: &raw mut params,
        schunk: schunk.handle.cast(),
        ..library.cparams_of(1)
    };
    library.free(schunk.fields().cctx);
    let mut context = library.compressor(cparams);
    // SAFETY: the super-chunk owns the context from now on.
    unsafe { (*schunk.handle).cctx = core::mem::replace(&mut context.handle, ptr::null_mut()) };
    assert_eq!(schunk.append(&data(4096)), 2);
    assert_eq!(schunk.read(1, 4096), data(4096).iter().map(|byte| !byte).collect::<Vec<_>>());
    assert_eq!(seen, [1]);
}

#[test]
fn wrong_arguments_are_codes() {
    let library = Blosc2::load();
    let wrong = blosc2_cparams { filters: [5; 6], ..library.cparams() };
    assert!(library.schunk_with(false, None, wrong).handle.is_null());
    let none = SChunk { library: &library, handle: ptr::null_mut() };
    assert_eq!((none.append(&data(40)), none.frame()), (-32, Err(-32)));
    assert_eq!(none.lazy(0), Err(-32));
    let schunk = library.schunk(false);
    let append = library.function::<Append>("blosc2_schunk_append_buffer");
    // SAFETY: NULL is looked at.
    assert_eq!(unsafe { append(schunk.handle, ptr::null(), 40) }, -12);
    // SAFETY: a length below 0 is looked at.
    assert_eq!(unsafe { append(schunk.handle, [0].as_ptr().cast(), -1) }, -35);
    let lazy = library.function::<GetLazy>("blosc2_schunk_get_lazychunk");
    // SAFETY: NULL is looked at.
    assert_eq!(unsafe { lazy(schunk.handle, 0, ptr::null_mut(), ptr::null_mut()) }, -12);
    let open = library.function::<OpenAt>("blosc2_schunk_open_offset");
    // SAFETY: NULL is looked at.
    assert!(unsafe { open(ptr::null(), 0) }.is_null());
    let from = library.function::<FromBuffer>("blosc2_schunk_from_buffer");
    // SAFETY: NULL and a length below 0 are looked at.
    assert!(unsafe { from(ptr::null_mut(), 100, false) }.is_null());
    // SAFETY: the same.
    assert!(unsafe { from([0].as_mut_ptr(), -1, false) }.is_null());
    let null = library.function::<New>("blosc2_schunk_new");
    // SAFETY: NULL is looked at.
    assert!(unsafe { null(ptr::null_mut()) }.is_null());
}

#[test]
fn every_changed_byte_of_a_frame_is_survived() {
    let library = Blosc2::load();
    let made = library.schunk(true);
    made.append(&data(4000));
    made.append(&data(4000));
    let frame = made.frame().unwrap().bytes;
    let mut nread = 0;
    for at in 0..frame.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = frame.clone();
            bytes[at] ^= flip;
            for copy in [false, true] {
                let schunk = library.buffer(&mut bytes, copy);
                if schunk.handle.is_null() {
                    continue;
                }
                let context = schunk.reader();
                for n in 0..2 {
                    let Ok(chunk) = schunk.lazy(n) else { continue };
                    let code = context.decompress_into(&chunk.bytes, &mut [0; 4000]);
                    assert!((-37..=4000).contains(&code), "{at} {flip:#x}: {code}");
                    nread += usize::from(code == 4000);
                }
                let _code = schunk.frame();
            }
        }
    }
    assert!(nread > 0);
}

#[test]
fn several_threads_read_one_super_chunk() {
    let library = Blosc2::load();
    let schunk = library.schunk(false);
    for n in 0..8 {
        schunk.append(&data(20_000 + 400 * n));
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let handle = schunk.handle as usize;
            let library = &library;
            scope.spawn(move || {
                let shared = SChunk { library, handle: handle as *mut blosc2_schunk };
                for n in 0..8 {
                    let nbytes = 20_000 + 400 * n;
                    assert_eq!(shared.read(i64::try_from(n).unwrap(), nbytes), data(nbytes));
                }
                // The test frees it.
                core::mem::forget(shared);
            });
        }
    });
}

/// The way of compressing that the fields show.
fn way(fields: &blosc2_schunk) -> (u8, u8, u8, [u8; 6], [u8; 6], i32) {
    let blosc2_schunk { compcode, clevel, splitmode, filters, filters_meta, blocksize, .. } =
        *fields;
    (compcode, clevel, splitmode, filters, filters_meta, blocksize)
}

#[test]
fn fields_that_a_client_changes_are_in_the_header() {
    let library = Blosc2::load();
    let folder = tempfile::tempdir().unwrap();
    for n in 0..9 {
        let (is_contiguous, nbefore) = (n % 3 != 1, n / 3);
        let path = folder.path().join(n.to_string());
        let text = CString::new(path.to_str().unwrap()).unwrap();
        let text = (n % 3 != 2).then_some(text.as_c_str());
        let mut schunk = library.schunk_with(is_contiguous, text, library.cparams_of(1));
        (0..nbefore).for_each(|_| assert!(schunk.append(&data(20_000)) > 0));
        // SAFETY: the library made it, and nobody else uses it.
        let fields = unsafe { &mut *schunk.handle };
        (fields.compcode, fields.clevel, fields.splitmode, fields.blocksize) = (5, 1, 2, 8192);
        (fields.filters, fields.filters_meta) = ([0, 0, 0, 0, 3, 2], [0, 0, 0, 0, 0, 1]);
        let changed = way(fields);
        assert_eq!(schunk.append(&data(20_000)), nbefore + 1);
        let mut frame = schunk.frame().unwrap().bytes;
        assert_eq!(way(library.buffer(&mut frame, false).fields()), changed, "{n}");
        if text.is_some() {
            drop(schunk);
            schunk = library.open_at(&path, 0);
            assert_eq!(way(schunk.fields()), changed, "{n}");
            assert_eq!(schunk.append(&data(20_000)), nbefore + 2);
            // The codec's format in the flags, and the last filter.
            let chunk = schunk.lazy(nbefore + 1).unwrap().bytes;
            assert_eq!((chunk[2] >> 5, chunk[21]), (4, 2));
        }
    }
}

#[test]
fn chunks_in_memory_make_a_frame_of_their_context() {
    let library = Blosc2::load();
    let schunk = library.schunk(false);
    assert_eq!(schunk.append(&data(20_000)), 1);
    let cparams = blosc2_cparams { clevel: 1, ..library.cparams_of(5) };
    let other = core::mem::ManuallyDrop::new(library.compressor(cparams));
    // SAFETY: the library made it, and nobody else uses it.
    let fields = unsafe { &mut *schunk.handle };
    library.free(core::mem::replace(&mut fields.cctx, other.handle));
    let mut frame = schunk.frame().unwrap().bytes;
    let copy = library.buffer(&mut frame, false);
    assert_eq!((copy.fields().compcode, copy.fields().clevel), (5, 1));
}

#[test]
fn a_folder_has_no_frame_at_another_position() {
    let library = Blosc2::load();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    let text = CString::new(path.to_str().unwrap()).unwrap();
    let schunk = library.schunk_with(false, Some(&text), library.cparams_of(1));
    assert_eq!(schunk.append(&data(20_000)), 1);
    drop(schunk);
    assert!(library.open_at(&path, 10).handle.is_null());
    assert!(!library.open_at(&path, 0).handle.is_null());
}
