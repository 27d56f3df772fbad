/** What is under the pointer: the same runs that the picture draws. */
import { eachRun, RUN_OPTIONS, usualName } from '../layout/runs';
import { firstEndingAfter } from '../layout/tracks';
import { countedName, type Bar } from './bars';
import { RULER_PX, scaleOf, trackTop, type Scene } from './scene';
import type { LaneRow } from './lanes';

export interface Hit {
  bar: Bar;
  last: Bar;
  bars: number;
  count: number;
  failures: number;
  /** Milliseconds in which one of them ran. */
  busyMs: number;
  /** What most of them are, where there are several. */
  name: string;
  row: LaneRow;
}

/** The bar under a point, and how many bars were drawn as one there. */
export function hitTest(scene: Scene, x: number, y: number): Hit | undefined {
  const toX = scaleOf(scene);
  const row = scene.rows.find(
    (candidate) =>
      y >= RULER_PX + candidate.top - scene.scrollTop &&
      y < RULER_PX + candidate.top + candidate.height - scene.scrollTop,
  );
  if (!row || row.tracks.length === 0) return undefined;
  const n = Math.min(
    Math.max(Math.floor((y - trackTop(row, 0, scene.scrollTop)) / row.trackPx), 0),
    row.tracks.length - 1,
  );
  const track = row.tracks[n]!;
  // Some pixels more on either side: the narrowest bar has two, which no hand would hit.
  const slack = scene.axis.toT(scene.view.u0 + ((x - 6) / scene.width) * (scene.view.u1 - scene.view.u0));
  let found: Hit | undefined;
  let best = 4;
  eachRun(track, firstEndingAfter(track, slack), x + 6, toX, RUN_OPTIONS, (run) => {
    const end = run.last.running ? Math.max(toX(scene.now), run.x1) : run.x1;
    const away = x < run.x0 ? run.x0 - x : x > end ? x - end : 0;
    if (away < best) {
      best = away;
      found = {
        bar: run.first,
        last: run.last,
        bars: run.bars,
        count: run.count,
        failures: run.failures,
        busyMs: run.busyMs,
        name: usualName(track, run, countedName),
        row,
      };
    }
  });
  return found;
}
