//! An allocator for programs that train: large arrays on large pages, all at cache lines.
//!
//! A wide model walks through many megabytes in a step. On pages of 4 KiB the processor
//! spends a tenth of that time on finding where they lie, and arrays that begin in the middle
//! of a cache line cost two lines per vector. A program opts in:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: consort_kernel::LargePages = consort_kernel::LargePages;
//! # fn main() {}
//! ```

use std::alloc::{GlobalAlloc, Layout, System};

/// What large pages begin with, and the least that is worth one.
const LARGE: usize = 2 << 20;
/// From here on arrays begin at a cache line.
const ARRAY: usize = 4 << 10;
const LINE: usize = 64;

/// The system's allocator, asked for better places for arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

impl LargePages {
    fn layout(layout: Layout) -> Layout {
        let align = match layout.size() {
            0..ARRAY => 1,
            ARRAY..LARGE => LINE,
            _ => LARGE,
        };
        layout.align_to(align).unwrap_or(layout)
    }
}

// SAFETY: every call goes to `System`. Memory is given back with the layout that it was taken
// with, since `layout` depends on nothing but its argument; `realloc` is the trait's own, which
// allocates, copies and frees by these same functions.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let better = LargePages::layout(layout);
        // SAFETY: the caller's promise; a larger alignment changes nothing of it.
        let memory = unsafe { System.alloc(better) };
        advise(memory, better.size());
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let better = LargePages::layout(layout);
        if better.size() < LARGE {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(better) };
        }
        // The system would touch every page, and small ones, before it could be advised.
        // SAFETY: the caller's promise.
        let memory = unsafe { self.alloc(layout) };
        if !memory.is_null() {
            // SAFETY: it has just been allocated with this size.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `alloc` took it from `System` with this layout.
        unsafe { System.dealloc(memory, LargePages::layout(layout)) };
    }
}

/// Asks for large pages; without them all works as well, only slower.
#[cfg(target_os = "linux")]
fn advise(memory: *mut u8, size: usize) {
    if size >= LARGE && !memory.is_null() {
        // SAFETY: the range was just allocated and begins at a page. The advice changes how it
        // is backed, never what it holds.
        let _ = unsafe { libc::madvise(memory.cast(), size, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrays of all sizes, grown and shrunk, keep what they hold and begin where they should.
    #[test]
    fn arrays_are_aligned_zeroed_and_survive_growth() {
        for size in [1, 100, ARRAY - 1, ARRAY, LARGE - 1, LARGE, 3 * LARGE + 5] {
            let layout = Layout::from_size_align(size, 4).unwrap();
            // SAFETY: the layout is not empty; every block is freed once, with the size that
            // it was last given.
            unsafe {
                let memory = LargePages.alloc_zeroed(layout);
                assert!(!memory.is_null());
                let align = LargePages::layout(layout).align();
                assert_eq!(memory as usize % align, 0, "{size}");
                assert!((0..size).all(|i| *memory.add(i) == 0), "{size}");
                memory.write_bytes(7, size);
                let grown = LargePages.realloc(memory, layout, 2 * size + 1);
                assert!((0..size).all(|i| *grown.add(i) == 7), "{size}");
                let layout = Layout::from_size_align(2 * size + 1, 4).unwrap();
                LargePages.dealloc(grown, layout);
            }
        }
    }
}
