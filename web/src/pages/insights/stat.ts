/** A column of numbers: what it sorts by and what it shows. */
export interface Stat<T> {
  name: string;
  hint?: string;
  value: (row: T) => number | undefined;
  show: (row: T) => string;
  tone?: (row: T) => string;
  /** The rows behind this number, where they are others than those behind the line. */
  href?: (row: T) => string;
}
