//! Arrays of C-Blosc2 (b2nd).

use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use libloading::Library;

use super::{CBlosc2, Params, RawStorage, function};
use crate::failure::{Result, fail};

type CreateCtx = unsafe extern "C" fn(
    *const RawStorage,
    i8,
    *const i64,
    *const i32,
    *const i32,
    *const c_char,
    i8,
    *const c_void,
    i32,
) -> *mut c_void;
type GetSlice = unsafe extern "C" fn(
    *const c_void,
    *const i64,
    *const i64,
    *mut c_void,
    *const i64,
    i64,
) -> c_int;
type SetSlice = unsafe extern "C" fn(
    *const c_void,
    *const i64,
    i64,
    *const i64,
    *const i64,
    *mut c_void,
) -> c_int;

/// The functions of arrays.
pub(super) struct Functions {
    create_ctx: CreateCtx,
    free_ctx: unsafe extern "C" fn(*mut c_void) -> c_int,
    from_buffer: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *const c_void, i64) -> c_int,
    from_frame: unsafe extern "C" fn(*const u8, i64, bool, *mut *mut c_void) -> c_int,
    to_buffer: unsafe extern "C" fn(*const c_void, *mut c_void, i64) -> c_int,
    get_slice: GetSlice,
    set_slice: SetSlice,
    free: unsafe extern "C" fn(*mut c_void) -> c_int,
}

impl Functions {
    pub(super) fn load(library: &Library) -> Result<Self> {
        Ok(Self {
            create_ctx: function(library, c"b2nd_create_ctx")?,
            free_ctx: function(library, c"b2nd_free_ctx")?,
            from_buffer: function(library, c"b2nd_from_cbuffer")?,
            from_frame: function(library, c"b2nd_from_cframe")?,
            to_buffer: function(library, c"b2nd_to_cbuffer")?,
            get_slice: function(library, c"b2nd_get_slice_cbuffer")?,
            set_slice: function(library, c"b2nd_set_slice_cbuffer")?,
            free: function(library, c"b2nd_free")?,
        })
    }
}

/// Shape of an array, of its chunks and of its blocks, all with the same number of dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) shape: Vec<i64>,
    pub(crate) chunks: Vec<i32>,
    pub(crate) blocks: Vec<i32>,
    /// NumPy's text of the dtype.
    pub(crate) dtype: &'static CStr,
}

impl CBlosc2 {
    /// An array in memory, compressed from `items`.
    pub(crate) fn array(&self, grid: &Grid, params: &Params, items: &[u8]) -> Result<Array> {
        let (mut cparams, dparams) = (params.raw(), params.raw_decode());
        cparams.blocksize = 0;
        let storage = RawStorage {
            contiguous: true,
            urlpath: ptr::null(),
            cparams: &raw const cparams,
            dparams: &raw const dparams,
            io: ptr::null_mut(),
        };
        let ndim = i8::try_from(grid.shape.len())?;
        let (shape, chunks, blocks) =
            (grid.shape.as_ptr(), grid.chunks.as_ptr(), grid.blocks.as_ptr());
        let (dtype, functions) = (grid.dtype.as_ptr(), &self.0.arrays);
        // SAFETY: all that it points to has `ndim` numbers and lives until the call returns; the
        // library copies it.
        let context = unsafe {
            (functions.create_ctx)(
                &raw const storage,
                ndim,
                shape,
                chunks,
                blocks,
                dtype,
                0,
                ptr::null(),
                0,
            )
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the length is that of the slice, which the library checks against the shape.
        let done = unsafe {
            (functions.from_buffer)(context, &raw mut raw, items.as_ptr().cast(), long(items.len()))
        };
        // SAFETY: it came from the library, and the array has taken what it needs.
        unsafe { (functions.free_ctx)(context) };
        check(done, "b2nd_from_cbuffer")?;
        Ok(Array { raw, library: self.clone() })
    }

    /// The array in a frame, copied by the library.
    pub(crate) fn array_of(&self, frame: &[u8]) -> Result<Array> {
        let mut raw = ptr::null_mut();
        // SAFETY: the length is that of the slice, and the bytes are copied.
        let done = unsafe {
            (self.0.arrays.from_frame)(frame.as_ptr(), long(frame.len()), true, &raw mut raw)
        };
        check(done, "b2nd_from_cframe")?;
        Ok(Array { raw, library: self.clone() })
    }
}

/// An array in memory.
pub(crate) struct Array {
    raw: *mut c_void,
    library: CBlosc2,
}

impl Array {
    pub(crate) fn read(&mut self, dest: &mut [u8]) -> Result<()> {
        let (to, nbytes) = (dest.as_mut_ptr().cast(), long(dest.len()));
        // SAFETY: the length is that of the slice, which the library checks.
        check(unsafe { (self.library.0.arrays.to_buffer)(self.raw, to, nbytes) }, "b2nd_to_cbuffer")
    }

    /// The box from `start` to before `stop`.
    pub(crate) fn read_slice(
        &mut self,
        start: &[i64],
        stop: &[i64],
        dest: &mut [u8],
    ) -> Result<()> {
        let shape = shape(start, stop);
        let (to, nbytes) = (dest.as_mut_ptr().cast(), long(dest.len()));
        let get = self.library.0.arrays.get_slice;
        // SAFETY: all have a number for each dimension, and the length is that of the slice.
        let done =
            unsafe { get(self.raw, start.as_ptr(), stop.as_ptr(), to, shape.as_ptr(), nbytes) };
        check(done, "b2nd_get_slice_cbuffer")
    }

    /// Writes `items` into the box.
    pub(crate) fn write_slice(&mut self, start: &[i64], stop: &[i64], items: &[u8]) -> Result<()> {
        let shape = shape(start, stop);
        let (from, nbytes) = (items.as_ptr().cast(), long(items.len()));
        let set = self.library.0.arrays.set_slice;
        // SAFETY: all have a number for each dimension, and the length is that of the slice.
        let done =
            unsafe { set(from, shape.as_ptr(), nbytes, start.as_ptr(), stop.as_ptr(), self.raw) };
        check(done, "b2nd_set_slice_cbuffer")
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: it came from the library and is freed once.
        unsafe { (self.library.0.arrays.free)(self.raw) };
    }
}

fn shape(start: &[i64], stop: &[i64]) -> Vec<i64> {
    start.iter().zip(stop).map(|(start, stop)| stop - start).collect()
}

fn long(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn check(done: c_int, what: &str) -> Result<()> {
    if done < 0 { fail(format!("{what}: C-Blosc2 gives {done}")) } else { Ok(()) }
}
