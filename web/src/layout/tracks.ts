/**
 * Parallel calls stand in parallel tracks of their lane: no two of one track overlap, and as few tracks as possible.
 */
export interface Span {
  start: number;
  end: number;
  /** It goes on: nothing that begins later stands in its track. */
  running?: boolean;
}

export interface Packed<T> {
  tracks: T[][];
  /** Items that found no place below the cap and lie in the last track over others. */
  overflow: number;
}

/**
 * Puts each item into the lowest track that is free at its start. Items need not be sorted. An item without length
 * occupies `minMs`, so that equal moments do not hide each other.
 */
export function packTracks<T extends Span>(items: readonly T[], maxTracks = 12, minMs = 0): Packed<T> {
  const sorted = [...items].sort((a, b) => a.start - b.start || b.end - a.end);
  const tracks: T[][] = [];
  const busyUntil: number[] = [];
  let overflow = 0;
  for (const item of sorted) {
    let track = busyUntil.findIndex((until) => until <= item.start);
    if (track < 0) {
      if (tracks.length < maxTracks) {
        track = tracks.length;
        tracks.push([]);
        busyUntil.push(Number.NEGATIVE_INFINITY);
      } else {
        track = maxTracks - 1;
        overflow += 1;
      }
    }
    tracks[track]!.push(item);
    busyUntil[track] = item.running
      ? Number.POSITIVE_INFINITY
      : Math.max(busyUntil[track]!, item.end, item.start + minMs);
  }
  return { tracks, overflow };
}

/** The first item of a track that ends at or after `t`; the length of the track when there is none. */
export function firstEndingAfter(track: readonly Span[], t: number): number {
  let low = 0;
  let high = track.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track[middle]!.end < t) low = middle + 1;
    else high = middle;
  }
  return low;
}
