//! An allocator for programs that train: all arrays on large pages and aligned to cache lines.
//!
//! A training step walks through many megabytes, in hundreds of arrays. On pages of 4 KiB the
//! processor spends up to a tenth of the time on finding where they lie in memory, and for an array
//! that begins in the middle of a cache line, a vector takes two lines. A program opts in:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: consort_large_pages::LargePages = consort_large_pages::LargePages;
//! # fn main() {}
//! ```
//!
//! Most arrays are smaller than a large page (2 MiB), so it does not help to place each of them
//! well. Instead they all come from one heap, the system's, which is told to use large pages as it
//! grows. Only GNU's heap can be told so. Elsewhere, and for arrays that the system keeps apart from
//! its heap, those of at least a large page begin at the start of one.
//!
//! `unsafe` is what an allocator is made of: the trait is unsafe, and so are the system's calls.

use std::alloc::{GlobalAlloc, Layout, System};

/// Size and alignment of a large page.
const LARGE: usize = 2 << 20;
/// Arrays of at least this size are aligned to a cache line.
const ARRAY: usize = 4 << 10;
const LINE: usize = 64;
/// Arrays of at least this size the system keeps apart from its heap. GNU's heap takes no more.
const APART: usize = if heap::IS_GNU { 32 << 20 } else { LARGE };

/// The system's allocator with better places for arrays.
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

// SAFETY: every call goes to `System`. Memory is freed with the layout that it was allocated with,
// since `layout` depends on its argument only; `realloc` is the trait's own, which allocates,
// copies and frees through these same functions.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        heap::prepare();
        let better = LargePages::layout(layout);
        // SAFETY: the caller's promise, which a larger alignment does not affect.
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
        // The system would touch every page, small ones, before it could be told to use large ones.
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

/// Asks for large pages. Without them everything works as well, only slower.
#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    // SAFETY: the range belongs to the program and begins at a page. The advice changes the size
    // of its pages, never what it holds.
    let _ = unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

/// GNU's heap: one range of memory for the arrays of all threads, on large pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    pub(super) const IS_GNU: bool = true;
    const PAGE: usize = 4 << 10;
    /// The heap grows by this much at a time.
    const GROW: libc::c_int = 128 << 20;
    /// So much of it may be free before it shrinks.
    const FREE: libc::c_int = 256 << 20;

    /// Lets the heap take all arrays that it can. A program allocates before it has threads, so
    /// the first call is alone.
    pub(super) fn prepare() {
        static PREPARED: AtomicBool = AtomicBool::new(false);
        if !PREPARED.load(Relaxed) && !PREPARED.swap(true, Relaxed) {
            // SAFETY: these are settings of the system's allocator, which checks their values.
            unsafe {
                libc::mallopt(libc::M_ARENA_MAX, 1);
                libc::mallopt(libc::M_MMAP_THRESHOLD, super::APART as libc::c_int);
                libc::mallopt(libc::M_TOP_PAD, GROW);
                libc::mallopt(libc::M_TRIM_THRESHOLD, FREE);
            }
        }
    }

    /// Asks for large pages for the part of the heap that is new since the last call. The first
    /// call asks for everything behind `array`.
    pub(super) fn advise(array: *mut u8) {
        static ADVISED: AtomicUsize = AtomicUsize::new(0);
        // SAFETY: with 0, `sbrk` only returns the end of the heap.
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

/// Other heaps are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heap {
    pub(super) const IS_GNU: bool = false;
    pub(super) fn prepare() {}
    pub(super) fn advise(_: *mut u8) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrays of all sizes are aligned, and keep their content when they grow.
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
