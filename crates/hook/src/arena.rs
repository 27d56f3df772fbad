//! The memory of a process that ends within a millisecond.
//!
//! Small blocks come from one arena in the program's own zeroed memory, one behind the other, and are never given back:
//! the search for a free block, and giving it back, were a tenth of the hook's instructions. The block that was handed out
//! last grows where it is, so that a list that grows does not leave its older selves behind. What is large, or no longer
//! fits, is the system's, as ever.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the arena. Pages that are not used cost nothing.
const ARENA_BYTES: usize = 256 << 10;
/// Larger blocks are the system's: it can give them back, and grow them without copying.
const BLOCK_BYTES: usize = 32 << 10;

/// Hands out memory of the arena.
pub(crate) struct Arena {
    bytes: UnsafeCell<[u8; ARENA_BYTES]>,
    /// The number of bytes that are handed out.
    used: AtomicUsize,
}

// SAFETY: `used` only ever grows by an exchange that names the old value, so no two callers get the same bytes, whatever
// thread they are on; the bytes themselves are touched only by the owner of the block.
#[expect(unsafe_code, reason = "an allocator is shared by definition")]
unsafe impl Sync for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self { bytes: UnsafeCell::new([0; ARENA_BYTES]), used: AtomicUsize::new(0) }
    }

    fn start(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// Returns where a block lies in the arena, if it does.
    fn place(&self, block: *mut u8) -> Option<usize> {
        (block as usize).checked_sub(self.start() as usize).filter(|place| *place < ARENA_BYTES)
    }

    /// Takes the next bytes for a block, or none if they do not fit.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let used = self.used.load(Ordering::Relaxed);
        let base = self.start() as usize;
        let place = (base + used).checked_next_multiple_of(layout.align())? - base;
        let end = place.checked_add(layout.size()).filter(|end| *end <= ARENA_BYTES)?;
        self.used.compare_exchange(used, end, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        Some(self.start().wrapping_add(place))
    }

    /// Makes the block that was handed out last longer or shorter, where it is.
    fn stretch(&self, block: *mut u8, old: usize, new: usize) -> bool {
        let Some(place) = self.place(block) else { return false };
        let end = place + new;
        end <= ARENA_BYTES
            && self.used.compare_exchange(place + old, end, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: blocks of the arena do not overlap (see `take`), are aligned as asked for, and stay valid for ever; everything
// else is the system allocator's, which gets back exactly what it handed out, because `place` tells the two apart.
#[expect(unsafe_code, reason = "only an allocator can say where memory comes from")]
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() <= BLOCK_BYTES
            && let Some(block) = self.take(layout)
        {
            return block;
        }
        // SAFETY: the layout is the caller's, who promised that it is a valid one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.place(block).is_some() {
            // The last block may be used again; any other is left where it is.
            self.stretch(block, layout.size(), 0);
        } else {
            // SAFETY: it is not in the arena, so the system handed it out with this layout.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.place(block).is_none() {
            // SAFETY: it is not in the arena, so the system handed it out with this layout.
            return unsafe { System.realloc(block, layout, size) };
        }
        if size <= BLOCK_BYTES && self.stretch(block, layout.size(), size) {
            return block;
        }
        // SAFETY: `size` is not zero and does not overflow when it is rounded up, as the caller promised.
        let moved = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the layout is valid.
        let target = unsafe { self.alloc(moved) };
        if !target.is_null() {
            // SAFETY: both blocks are at least this long, and they are two.
            unsafe { std::ptr::copy_nonoverlapping(block, target, layout.size().min(size)) };
        }
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "an allocator is called by its own rules")]
    fn blocks_are_apart_aligned_and_keep_what_they_hold_while_they_grow() {
        static ARENA: Arena = Arena::new();
        let mut blocks: Vec<(*mut u8, Layout, u8)> = Vec::new();
        for number in 1..=200_u8 {
            let layout = Layout::from_size_align(usize::from(number) * 37, 1 << (number % 7)).unwrap();
            // SAFETY: the layout is not empty, and every byte that is written lies in the block.
            let block = unsafe { ARENA.alloc(layout) };
            assert!(!block.is_null() && (block as usize).is_multiple_of(layout.align()));
            // SAFETY: as above.
            unsafe { block.write_bytes(number, layout.size()) };
            blocks.push((block, layout, number));
        }
        for (block, layout, number) in blocks {
            // SAFETY: the block was handed out with this layout; the new size is not zero.
            let grown = unsafe { ARENA.realloc(block, layout, layout.size() * 3) };
            // SAFETY: the first bytes were written before.
            let held = unsafe { std::slice::from_raw_parts(grown, layout.size()) };
            assert!(held.iter().all(|byte| *byte == number), "block {number}");
            let layout = Layout::from_size_align(layout.size() * 3, layout.align()).unwrap();
            // SAFETY: the block was handed out with this layout.
            unsafe { ARENA.dealloc(grown, layout) };
        }
    }

    #[test]
    #[expect(unsafe_code, reason = "an allocator is called by its own rules")]
    fn the_last_block_grows_in_place_and_a_large_one_is_the_systems() {
        static ARENA: Arena = Arena::new();
        let small = Layout::from_size_align(64, 8).unwrap();
        // SAFETY: the layouts are not empty, and each block goes back with its own.
        unsafe {
            let block = ARENA.alloc(small);
            assert_eq!(ARENA.realloc(block, small, 128), block);
            let large = Layout::from_size_align(BLOCK_BYTES + 1, 8).unwrap();
            let systems = ARENA.alloc(large);
            assert!(ARENA.place(systems).is_none());
            ARENA.dealloc(systems, large);
        }
    }
}
