/** One series of a chart; its colour is the name of a token. */
export interface ChartSeries {
  name: string;
  token: string;
  /** What is not known is no number, and is not drawn. */
  values: readonly (number | null)[];
  /** How the value at a place is written, where the number alone would claim too much. */
  say?: (place: number) => string;
  kind?: 'line' | 'area' | 'bars';
}

/** The value of a line at a place, in words. */
export function formatAt(line: ChartSeries, place: number, value: (n: number) => string): string {
  if (line.say) return line.say(place);
  const n = line.values[place];
  return n === null ? 'unknown' : value(n ?? 0);
}
