//! An allocator for programs that train: all arrays on large pages, and at cache lines.
//!
//! A model walks through many megabytes in a step, in hundreds of arrays. On pages of 4 KiB the
//! processor spends up to a tenth of that time on finding where they lie, and arrays that begin
//! in the middle of a cache line cost two lines per vector. A program opts in:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: consort_kernel::LargePages = consort_kernel::LargePages;
//! # fn main() {}
//! ```
//!
//! Most arrays are smaller than a large page, so it does not help to place each of them well.
//! Instead they all come from one heap, the system's, which is asked to lie on large pages as it
//! grows. Where it cannot be asked (only GNU's can), and for arrays that the system places apart
//! from its heap, those of at least a large page begin at one.

use std::alloc::{GlobalAlloc, Layout, System};

/// What large pages begin with, and the least that is worth one.
const LARGE: usize = 2 << 20;
/// From here on arrays begin at a cache line.
const ARRAY: usize = 4 << 10;
const LINE: usize = 64;
/// From here on the system places an array apart: the most that GNU's heap takes.
const APART: usize = if heap::IS_ONE { 32 << 20 } else { LARGE };

/// The system's allocator, asked for better places for arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

impl LargePages {
    fn layout(layout: Layout) -> Layout {
        let align = match layout.size() {
            0..ARRAY => 1,
            ARRAY..APART => LINE,
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
        heap::prepare();
        let better = LargePages::layout(layout);
        // SAFETY: the caller's promise; a larger alignment changes nothing of it.
        let memory = unsafe { System.alloc(better) };
        if !memory.is_null() {
            match better.size() {
                0..ARRAY => {}
                ARRAY..APART => heap::advise(memory),
                size => advise(memory, size),
            }
        }
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < ARRAY {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(LargePages::layout(layout)) };
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
fn advise(start: *mut u8, size: usize) {
    // SAFETY: the range is the program's and begins at a page. The advice changes how it is
    // backed, never what it holds.
    let _ = unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

/// GNU's heap: one piece of memory for the arrays of all threads, on large pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    pub(super) const IS_ONE: bool = true;
    const PAGE: usize = 4 << 10;
    /// By so much the heap grows, and so much of it may be free before it shrinks.
    const MORE: libc::c_int = 128 << 20;
    const FREE: libc::c_int = 256 << 20;

    /// Lets the heap take all arrays that it can. The first call comes before there are threads.
    pub(super) fn prepare() {
        static PREPARED: AtomicBool = AtomicBool::new(false);
        if !PREPARED.load(Relaxed) && !PREPARED.swap(true, Relaxed) {
            // SAFETY: these are settings of the system's allocator, which checks them.
            unsafe {
                libc::mallopt(libc::M_ARENA_MAX, 1);
                libc::mallopt(libc::M_MMAP_THRESHOLD, super::APART as libc::c_int);
                libc::mallopt(libc::M_TOP_PAD, MORE);
                libc::mallopt(libc::M_TRIM_THRESHOLD, FREE);
            }
        }
    }

    /// Asks for large pages for what the heap has grown by since the last time, or, at the first
    /// time, for what lies behind `array`.
    pub(super) fn advise(array: *mut u8) {
        static ADVISED: AtomicUsize = AtomicUsize::new(0);
        // SAFETY: with 0, it only tells where the heap ends.
        let end = unsafe { libc::sbrk(0) }.cast::<u8>();
        let advised = ADVISED.load(Relaxed);
        if end.addr() != advised {
            ADVISED.store(end.addr(), Relaxed);
            let from = if advised == 0 { array.addr() } else { advised }.next_multiple_of(PAGE);
            if from < end.addr() {
                super::advise(end.with_addr(from), end.addr() - from);
            }
        }
    }
}

/// Nothing is known of other heaps.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heap {
    pub(super) const IS_ONE: bool = false;
    pub(super) fn prepare() {}
    pub(super) fn advise(_: *mut u8) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrays of all sizes, grown and shrunk, keep what they hold and begin where they should.
    #[test]
    fn arrays_are_aligned_zeroed_and_survive_growth() {
        for size in [1, 100, ARRAY - 1, ARRAY, LARGE, APART - 1, APART, APART + LARGE + 5] {
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
