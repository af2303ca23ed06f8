//! Parts of an array with any order of items.
//!
//! The walk follows the file, not the result: each chunk is decoded once if the positions increase.

use std::io::{Read as _, Seek as _, SeekFrom};

use blosc_io::ReadAt;

use super::{ArrayInfo, Order};
use crate::file::DataReader;
use crate::pack::own;
use crate::{BlpFile, Param, Result};

impl<S: ReadAt> BlpFile<S> {
    /// The items at all combinations of these positions, one list per dimension, in C order:
    /// NumPy's `a[np.ix_(...)]`. [`array_info`](Self::array_info) describes the array.
    ///
    /// ```
    /// use blosc_io::MemStore;
    /// use bloscpack::numpy::{ArrayInfo, NpArray, Order, pack_array};
    /// use bloscpack::{BlpFile, WriteOptions};
    ///
    /// // Columns one after the other: a[i, j] = 10 i + j.
    /// let info = ArrayInfo::new("|u1".parse()?, vec![2, 3], Order::F)?;
    /// let array = NpArray::new(info.clone(), vec![0, 10, 1, 11, 2, 12])?;
    /// let file = BlpFile::new(MemStore::new(pack_array(&array, WriteOptions::default())?))?;
    /// let mut items = [0; 4];
    /// file.read_oindex_bytes(&info, &[&[0, 1], &[2, 0]], &mut items)?;
    /// assert_eq!(items, [2, 0, 12, 10]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Param::Positions`] for positions outside the array and for a wrong number of lists,
    /// [`Param::ItemsBuffer`] for a buffer of another length than the items; otherwise as
    /// [`chunk`](Self::chunk).
    pub fn read_oindex_bytes(
        &self,
        info: &ArrayInfo,
        positions: &[&[u64]],
        dest: &mut [u8],
    ) -> Result<()> {
        let mut axes = axes(info, positions)?;
        let itemsize = info.dtype().itemsize();
        let needed = positions.iter().try_fold(itemsize, |n, list| n.checked_mul(list.len()));
        if needed != Some(dest.len()) {
            return Err(Param::ItemsBuffer { needed, found: dest.len() }.into());
        }
        if dest.is_empty() {
            return Ok(());
        }
        if info.order() == Order::F {
            axes.reverse();
        }
        let mut runs = Runs { data: self.reader(), dest, run: Run::default() };
        loop {
            runs.add(&axes, itemsize)?;
            if !step(&mut axes) {
                return runs.flush();
            }
        }
    }
}

/// A dimension: its requested positions, and the distances between its items.
struct Axis<'a> {
    positions: &'a [u64],
    /// Index of the next position.
    next: usize,
    /// Bytes from one item to the next in the file, and in the result.
    stride: u64,
    dest_stride: usize,
}

/// The dimensions in the order of the shape.
fn axes<'a>(info: &ArrayInfo, positions: &[&'a [u64]]) -> Result<Vec<Axis<'a>>> {
    let shape = info.shape();
    let inside = |(list, len): (&&[u64], &u64)| list.iter().all(|position| position < len);
    if positions.len() != shape.len() || !positions.iter().zip(shape).all(inside) {
        return Err(Param::Positions.into());
    }
    let mut axes: Vec<Axis<'_>> = positions
        .iter()
        .map(|positions| Axis { positions, next: 0, stride: 0, dest_stride: 0 })
        .collect();
    let itemsize = info.dtype().itemsize();
    let mut dest_stride = itemsize;
    for axis in axes.iter_mut().rev() {
        axis.dest_stride = dest_stride;
        dest_stride = dest_stride.saturating_mul(axis.positions.len());
    }
    // The size of the whole array was checked; only the size of an empty array can overflow.
    let mut stride = itemsize as u64;
    let mut set = |(axis, len): (&mut Axis<'_>, &u64)| {
        axis.stride = stride;
        stride = stride.saturating_mul(*len);
    };
    match info.order() {
        Order::C => axes.iter_mut().zip(shape).rev().for_each(&mut set),
        Order::F => axes.iter_mut().zip(shape).for_each(&mut set),
    }
    Ok(axes)
}

/// Goes to the next item of the file, the last dimension first; `false` after the last one.
fn step(axes: &mut [Axis<'_>]) -> bool {
    for axis in axes.iter_mut().rev() {
        axis.next += 1;
        if axis.next < axis.positions.len() {
            return true;
        }
        axis.next = 0;
    }
    false
}

/// Bytes that lie together in the file and in the result.
#[derive(Clone, Copy, Default)]
struct Run {
    at: u64,
    dest: usize,
    len: usize,
}

/// Copies items, as many at once as possible.
struct Runs<'a, S> {
    data: DataReader<'a, S>,
    dest: &'a mut [u8],
    run: Run,
}

impl<S: ReadAt> Runs<'_, S> {
    /// Adds the item at the present positions.
    fn add(&mut self, axes: &[Axis<'_>], itemsize: usize) -> Result<()> {
        let at = axes.iter().map(|axis| axis.positions[axis.next] * axis.stride).sum();
        let dest = axes.iter().map(|axis| axis.next * axis.dest_stride).sum();
        let run = self.run;
        if run.len > 0 && (at, dest) == (run.at + run.len as u64, run.dest + run.len) {
            self.run.len += itemsize;
            return Ok(());
        }
        self.flush()?;
        self.run = Run { at, dest, len: itemsize };
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let Run { at, dest, len } = self.run;
        self.data.seek(SeekFrom::Start(at)).map_err(own)?;
        self.data.read_exact(&mut self.dest[dest..dest + len]).map_err(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WriteOptions;
    use crate::numpy::{NpArray, pack_array};
    use blosc_io::MemStore;

    /// a[i, j, k] = 1000 i + 100 j + k.
    fn value(index: [u64; 3]) -> [u8; 2] {
        let [i, j, k] = index.map(|i| u16::try_from(i).unwrap());
        (1000 * i + 100 * j + k).to_le_bytes()
    }

    fn file(order: Order) -> (ArrayInfo, BlpFile<MemStore>) {
        let shape = [4, 3, 50];
        let info = ArrayInfo::new("<i2".parse().unwrap(), shape.to_vec(), order).unwrap();
        let data = (0..4 * 3 * 50).flat_map(|n| match order {
            Order::C => value([n / 150, n / 50 % 3, n % 50]),
            Order::F => value([n % 4, n / 4 % 3, n / 12]),
        });
        let array = NpArray::new(info.clone(), data.collect()).unwrap();
        let blp = pack_array(&array, WriteOptions::default().chunksize(70)).unwrap();
        (info, BlpFile::new(MemStore::new(blp)).unwrap())
    }

    #[test]
    fn items_are_those_of_the_index_in_both_orders() {
        let all = |n: u64| (0..n).collect::<Vec<_>>();
        let lists = [
            [all(4), all(3), all(50)],
            [vec![3, 0, 3], vec![1], vec![49, 0, 7, 8, 9]],
            [all(4), vec![2], vec![]],
        ];
        for order in [Order::C, Order::F] {
            let (info, file) = file(order);
            for [i, j, k] in &lists {
                let expected: Vec<u8> = i
                    .iter()
                    .flat_map(|i| {
                        j.iter().flat_map(move |j| k.iter().flat_map(move |k| value([*i, *j, *k])))
                    })
                    .collect();
                let mut found = vec![0; expected.len()];
                file.read_oindex_bytes(&info, &[i, j, k], &mut found).unwrap();
                assert!(found == expected, "{order:?} {i:?} {j:?} {k:?}");
            }
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let (info, file) = file(Order::C);
        for positions in [&[&[0][..], &[0], &[50]][..], &[&[0], &[0]]] {
            let result = file.read_oindex_bytes(&info, positions, &mut [0; 2]);
            assert!(matches!(result, Err(crate::Error::Param(Param::Positions))), "{positions:?}");
        }
        let result = file.read_oindex_bytes(&info, &[&[0], &[0], &[0]], &mut [0; 3]);
        let (needed, found) = (Some(2), 3);
        assert!(
            matches!(result, Err(crate::Error::Param(param)) if param == Param::ItemsBuffer { needed, found })
        );
    }

    #[test]
    fn one_item_has_no_dimensions() {
        let info = ArrayInfo::new("<i2".parse().unwrap(), vec![], Order::C).unwrap();
        let array = NpArray::new(info.clone(), vec![7, 1]).unwrap();
        let file =
            BlpFile::new(MemStore::new(pack_array(&array, WriteOptions::default()).unwrap()))
                .unwrap();
        let mut item = [0; 2];
        file.read_oindex_bytes(&info, &[], &mut item).unwrap();
        assert_eq!(item, [7, 1]);
    }
}
