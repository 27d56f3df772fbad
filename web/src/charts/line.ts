/** One series of a chart; its colour is the name of a token. */
export interface Line {
  name: string;
  token: string;
  values: readonly number[];
  kind?: 'line' | 'area' | 'bars';
}
