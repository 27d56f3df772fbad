/** The heading of a column of a plain table, which the browser lays out. */
export interface Heading {
  key: string;
  label: string;
  align?: 'right';
  hint?: string;
  /** Whether only a screen reader needs the label. */
  isHidden?: boolean;
}

/** A column of a grid: its width is a track of a CSS grid. */
export interface Column extends Omit<Heading, 'isHidden'> {
  width: string;
  sortable?: boolean;
}
