import type { Bar } from './bars';

/** A bar for tests: one measured call of the main agent. */
export const sampleBar = (id: string, start: number, end: number, more: Partial<Bar> = {}): Bar => ({
  id,
  taskId: 'main',
  lane: 'exploration',
  start,
  end,
  running: false,
  count: 1,
  failures: 0,
  track: 0,
  label: id,
  certainty: 'measured',
  ...more,
});
