//! One vector of channels of neighbouring pixels, read and written without a check each.
//!
//! A check of a slice per load would take more time than what is computed with it. Here one
//! check covers the columns of a row: [`Columns::new`] asserts that all of them lie in the
//! slice. [`Columns::tile`] asserts that a few of them are there, and [`Tile::get`] that it is
//! asked for one of those, which is known when the loop over them is unrolled.

/// Channels of a vector.
pub(crate) const LANES: usize = 8;

/// Vectors that lie `step` floats apart.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    values: &'a [f32],
    step: usize,
    count: usize,
}

/// Columns that are there.
#[derive(Clone, Copy)]
pub(crate) struct Tile<'a> {
    columns: Columns<'a>,
    first: usize,
    count: usize,
}

impl<'a> Columns<'a> {
    /// `count` vectors from `at` on.
    #[inline(always)]
    pub(crate) fn new(values: &'a [f32], at: usize, step: usize, count: usize) -> Self {
        let values = &values[at..];
        assert!(covers(values.len(), step, count), "columns outside of the image");
        Columns { values, step, count }
    }

    /// `count` columns from `first` on.
    #[inline(always)]
    pub(crate) fn tile(self, first: usize, count: usize) -> Tile<'a> {
        let there = first <= self.count && count <= self.count - first;
        assert!(there, "a tile outside of the columns");
        Tile { columns: self, first, count }
    }

    /// One column.
    #[inline(always)]
    pub(crate) fn get(self, column: usize) -> [f32; LANES] {
        self.tile(column, 1).get(0)
    }
}

impl Tile<'_> {
    /// One column of the tile.
    #[inline(always)]
    pub(crate) fn get(&self, column: usize) -> [f32; LANES] {
        assert!(column < self.count);
        let from = self.columns.values.as_ptr();
        // SAFETY: `first + column < count` by the assertions here and in `tile`, and `new` has
        // asserted that `count` vectors of LANES floats, `step` apart, lie in the slice.
        unsafe {
            let from = from.add(self.first * self.columns.step).add(column * self.columns.step);
            from.cast::<[f32; LANES]>().read()
        }
    }
}

/// Vectors that lie `step` floats apart, to write.
pub(crate) struct ColumnsMut<'a> {
    values: &'a mut [f32],
    step: usize,
    count: usize,
}

impl<'a> ColumnsMut<'a> {
    /// `count` vectors from `at` on.
    #[inline(always)]
    pub(crate) fn new(values: &'a mut [f32], at: usize, step: usize, count: usize) -> Self {
        let values = &mut values[at..];
        assert!(covers(values.len(), step, count), "columns outside of the image");
        ColumnsMut { values, step, count }
    }

    /// Writes one column.
    #[inline(always)]
    pub(crate) fn write(&mut self, column: usize, vector: [f32; LANES]) {
        assert!(column < self.count, "a column outside of the columns");
        // SAFETY: `column < count` by the assertion above, and `new` has asserted that `count`
        // vectors of LANES floats, `step` apart, lie in the slice.
        unsafe {
            let to = self.values.as_mut_ptr().add(column * self.step);
            to.cast::<[f32; LANES]>().write(vector);
        }
    }
}

/// Whether `count` vectors lie in `floats` floats.
#[inline(always)]
fn covers(floats: usize, step: usize, count: usize) -> bool {
    let last = count.checked_sub(1).map(|last| last.checked_mul(step));
    match last {
        None => true,
        Some(last) => last.and_then(|at| at.checked_add(LANES)).is_some_and(|end| end <= floats),
    }
}
