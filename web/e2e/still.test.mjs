/** Nothing moves under the reader's finger while a page loads, in whatever order the answers come. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { World } from './world.mjs';

/** @type {World} */
let world;
before(async () => {
  world = await World.demo();
});
after(async () => {
  await world?.stop();
});

/** After so many frames without a question a page has asked everything. */
const QUIET_FRAMES = 30;

const nextFrame = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Opens a page whose answers come one by one, the last request first, and returns what moved. */
async function jumps(path, viewport) {
  const page = await world.page('/settings', { viewport });
  await page.addInitScript(() => {
    globalThis.jumps = [];
    const name = (node) =>
      (node instanceof Element ? node : node?.parentElement)?.outerHTML.slice(0, 100) ?? 'a node that is gone';
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        globalThis.jumps.push(`${entry.value}: ${(entry.sources ?? []).map(({ node }) => name(node)).join(' | ')}`);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const held = [];
  await page.route(/\/api\/v1\/(?!stream)/, (route) => void held.push(route));
  await page.goto(world.address + path);
  for (let quiet = 0; quiet < QUIET_FRAMES; quiet += 1) {
    const route = held.pop();
    if (route) {
      // A question that the page has given up needs no answer.
      await route
        .fetch()
        .then((response) => route.fulfill({ response }))
        .catch(() => undefined);
      quiet = 0;
    }
    await nextFrame(page);
  }
  const found = await page.evaluate(() => globalThis.jumps);
  assert.deepEqual(page.wrongs, [], path);
  await page.close();
  return found;
}

for (const [width, height] of [
  [1280, 800],
  [390, 844],
]) {
  test(`no layout shift while a page loads, ${width} pixels wide`, async () => {
    const task = `/tasks/${world.checkout.id}`;
    for (const path of [
      '/',
      '/tasks',
      task,
      `${task}?tab=files`,
      `${task}?tab=exploration`,
      `${task}?tab=tokens`,
      `/tasks/${world.release.id}?tab=compactions`,
      '/insights',
      '/search?q=price',
      '/policies',
      '/tracer',
      '/settings',
    ]) {
      assert.deepEqual(await jumps(path, { width, height }), [], path);
    }
  });
}

test('the board keeps its place while agents come, work and go', async () => {
  const busy = await World.demo({ speed: 2, once: false });
  try {
    const pages = [];
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ]) {
      const page = await busy.page('/settings', { viewport: { width, height } });
      await page.addInitScript(() => {
        globalThis.moved = 0;
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) globalThis.moved += value;
        }).observe({ type: 'layout-shift', buffered: true });
      });
      await page.goto(`${busy.address}/`);
      pages.push([width, page]);
    }
    // The demo's sessions begin, ask, fail and end within this time.
    await pause(30_000);
    for (const [width, page] of pages) {
      const moved = await page.evaluate(() => globalThis.moved);
      assert.ok(moved < 0.05, `${width} pixels wide: ${moved}`);
      assert.deepEqual(page.wrongs, []);
    }
  } finally {
    await busy.stop();
  }
});
