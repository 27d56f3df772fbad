/** What a trace of Chromium says about frames: pure. */

/** When frames of the page were drawn, in milliseconds, from a trace's events. */
export function drawnFrames(events) {
  const at = events.filter((event) => event.name === 'DrawFrame').map((event) => event.ts / 1000);
  return at.sort((a, b) => a - b);
}

/** Median frames per second and the part of frames that were missed, at a given rate of the screen. */
export function frameNumbers(at, screenHz = 60) {
  const screenMs = 1000 / screenHz;
  const gaps = at.slice(1).map((t, i) => t - at[i]).filter((gap) => gap > 0.5);
  if (gaps.length === 0) return { frames: 0, medianFps: 0, droppedPct: 100, longestMs: 0 };
  const sorted = [...gaps].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  const missed = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / screenMs) - 1), 0);
  return {
    frames: at.length, medianFps: Math.min(1000 / median, screenHz), droppedPct: (missed / (gaps.length + missed)) * 100, longestMs: sorted.at(-1),
  };
}

/**
 * Processor time of the page's main thread per drawn frame, in milliseconds. Unlike frames per second it does not depend on
 * who else uses the machine: below 16.7 a free core reaches sixty frames.
 */
export function mainThreadMsPerFrame(events) {
  const threads = new Map(events.filter((event) => event.name === 'thread_name').map((event) => [`${event.pid} ${event.tid}`, event.args?.name]));
  const frames = drawnFrames(events).length;
  const spent = events
    .filter((event) => event.name === 'RunTask' || event.name === 'ThreadControllerImpl::RunTask')
    .filter((event) => threads.get(`${event.pid} ${event.tid}`) === 'CrRendererMain')
    .reduce((sum, event) => sum + (event.tdur ?? 0) / 1000, 0);
  return frames === 0 ? Number.POSITIVE_INFINITY : spent / frames;
}
