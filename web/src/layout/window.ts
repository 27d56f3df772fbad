/**
 * Which rows of a long list exist in the page: those that can be seen, and a few on each side.
 */
export interface Window {
  first: number;
  /** One past the last. */
  end: number;
  /** Where the first one stands, in pixels from the top of the list. */
  offset: number;
}

/** The window of a list whose rows all have one height. */
export function listWindow(count: number, rowPx: number, scrollTop: number, viewPx: number, spare = 8): Window {
  const first = Math.min(Math.max(Math.floor(scrollTop / rowPx) - spare, 0), Math.max(count - 1, 0));
  const end = Math.min(count, Math.max(first, Math.ceil((scrollTop + viewPx) / rowPx) + spare));
  return { first, end, offset: first * rowPx };
}

/** The scroll position that makes a row visible while moving as little as possible. */
export function reveal(index: number, rowPx: number, scrollTop: number, viewPx: number): number {
  const top = index * rowPx;
  if (top < scrollTop) return top;
  if (top + rowPx > scrollTop + viewPx) return top + rowPx - viewPx;
  return scrollTop;
}
