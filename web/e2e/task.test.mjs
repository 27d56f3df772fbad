/**
 * One task in the hand: zoom, pan, brush, lanes that open and close, panels, the drawer and what can be copied from it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { World } from './world.mjs';

/** @type {World} */
let world;
let checkout;
let release;
before(async () => {
  world = await World.demo();
  ({ checkout, release } = world);
});
after(async () => {
  await world?.stop();
});

async function open(path = '', options = {}) {
  const page = await world.page(`/tasks/${checkout.id}${path}`, options);
  await page.waitForFunction(() => performance.getEntriesByName('timeline drawn').length > 0);
  return page;
}

/** The part of time that the address says is in view. */
const shown = (page) => {
  const query = new URL(page.url()).searchParams;
  return [Number(query.get('from')), Number(query.get('to'))];
};

test('the wheel zooms at the cursor, a drag pans, and one key shows the whole again', async () => {
  const page = await open();
  const box = await page.getByRole('application').boundingBox();
  const [x, y] = [box.x + box.width * 0.25, box.y + box.height / 2];
  await page.mouse.move(x, y);
  for (let i = 0; i < 4; i += 1) await page.mouse.wheel(0, -200);
  await page.waitForURL(/from=\d+&to=\d+/);
  const [from, to] = shown(page);
  const start = Date.parse(checkout.startedAt);
  const length = Date.parse(checkout.endedAt) - start;
  assert.ok(to - from < length * 0.6, `${to - from} of ${length} is zoomed in`);
  // What lay under the cursor lies there still.
  assert.ok(
    Math.abs(from + (to - from) * 0.25 - (start + length * 0.25)) < length * 0.05,
    'the moment under the cursor stays',
  );
  await page.mouse.down();
  await page.mouse.move(x - 200, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL((url) => Number(url.searchParams.get('from')) > from);
  assert.ok(Math.abs(shown(page)[1] - shown(page)[0] - (to - from)) < 5, 'a pan does not zoom');
  await page.keyboard.press('0');
  await page.waitForURL((url) => !url.searchParams.has('from'));
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('the tooltip is that of the bar under the pointer, also when a key has moved the bars', async () => {
  const page = await open();
  const box = await page.getByRole('application').boundingBox();
  const tip = page.locator('.tip');
  const frames = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const shownTip = async () => ((await tip.isVisible()) ? tip.textContent() : '');
  /** Rests the pointer on the first bar that lies on its way. */
  const hover = async () => {
    for (let y = 40; y < box.height; y += 8)
      for (let x = 40; x < box.width - 10; x += 60) {
        await page.mouse.move(box.x + x, box.y + y);
        if (await tip.isVisible()) return [box.x + x, box.y + y];
      }
    return assert.fail('no bar lies on the way of the pointer');
  };
  let gone = 0;
  for (const key of ['f', 'w', 'd', ']', 'm']) {
    await page.keyboard.press('0');
    await page.keyboard.press('.');
    const [x, y] = await hover();
    await page.keyboard.press(key);
    await frames();
    const before = await shownTip();
    await page.mouse.move(x + 1, y);
    await page.mouse.move(x, y);
    await frames();
    assert.equal(before, await shownTip(), `after ${key}`);
    if (before === '') gone += 1;
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  }
  assert.ok(gone > 0, 'some key moves the bar away from the pointer');
  await page.close();
});

test('what is searched for filters the panel below', async () => {
  const page = await open('?tab=commands');
  const rows = page.getByRole('tabpanel').getByRole('row');
  await page.getByRole('tabpanel').getByText('npm test -- total').first().waitFor();
  const all = await rows.count();
  await page.keyboard.press('/');
  await page.keyboard.type('bench');
  await page.getByRole('tabpanel').getByRole('status').filter({ hasText: 'the search' }).waitFor();
  const found = await rows.count();
  assert.ok(found > 1 && found < all, `${found} of ${all}`);
  for (const text of (await rows.allTextContents()).slice(1)) assert.match(text, /bench/i);
  await page.close();
});

test('a stretch of the overview becomes the window, and a double click gives the whole back', async () => {
  const page = await open();
  const strip = page.getByRole('img', { name: /Overview of the whole task/ });
  const box = await strip.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=\d+&to=\d+/);
  const [from, to] = shown(page);
  const length = Date.parse(checkout.endedAt) - Date.parse(checkout.startedAt);
  assert.ok(Math.abs((to - from) / length - 0.2) < 0.03, `a fifth, not ${(to - from) / length}`);
  await strip.dblclick({ position: { x: 10, y: 20 } });
  await page.waitForURL((url) => !url.searchParams.has('from'));
  await page.close();
});

test('agents open and close one by one and together, by mouse and by key', async () => {
  const page = await open();
  const explore = page.getByRole('treeitem').filter({ hasText: 'Explore' }).first();
  assert.equal(await explore.getAttribute('aria-expanded'), 'false');
  await page.getByRole('button', { name: 'Expand Explore' }).click();
  await page.getByRole('button', { name: 'Collapse Explore' }).waitFor();
  const lanes = async () => page.getByRole('treeitem').count();
  await page.getByRole('application').focus();
  await page.keyboard.press('[');
  await page.getByRole('button', { name: 'Expand Explore' }).waitFor();
  const closed = await lanes();
  await page.keyboard.press(']');
  await page.getByRole('button', { name: 'Collapse Explore' }).waitFor();
  assert.ok((await lanes()) > closed);
  await page.close();
});

test('every panel opens by its keys, says what is in it, and fits', async () => {
  const page = await open();
  const panels = {
    w: /npm run bench/,
    a: /Count queries of one checkout/,
    t: /Checkout takes seconds/,
    x: /src\/cart\/total\.ts/,
    f: /main ×\d/,
    c: /npm test -- total/,
    p: /No permission prompts recorded|Unknown: recorded from transcripts only/,
    d: /Prove it/,
    q: /No questions/,
    e: /not found/,
    o: /Total/,
    m: /No compactions/,
  };
  for (const [key, text] of Object.entries(panels)) {
    await page.getByRole('application').focus();
    await page.keyboard.press('t');
    await page.keyboard.press(key);
    await page.getByRole('tabpanel').getByText(text).first().waitFor();
  }
  await page.keyboard.press('Escape');
  await page.getByRole('tabpanel').waitFor({ state: 'hidden' });
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('permissions show the request, the decision and the wait', async () => {
  const page = await world.page(`/tasks/${release.id}?tab=permissions`);
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('row', { name: /allowed.*Tag v2\.4\.0/ }).waitFor();
  await panel.getByRole('row', { name: /denied.*Push origin/ }).waitFor();
  // Its context was emptied on the way: the chart says so in words too.
  await page.getByRole('img', { name: /context window over time, now \d+ %, [1-9]\d* compaction/ }).waitFor();
  await page.close();
});

test('a compaction shows the context before and after it, and the address holds its number', async () => {
  const page = await world.page(`/tasks/${release.id}`);
  await page.getByRole('button', { name: /^Context .*show the rows/ }).click();
  await page.getByRole('tab', { name: /Compactions/, selected: true }).waitFor();
  const panel = page.getByRole('tabpanel');
  await panel.getByText(/→ .* tokens/).waitFor();
  await panel
    .getByRole('region', { name: 'Before' })
    .getByText(/prompt/)
    .first()
    .waitFor();
  await panel
    .getByRole('region', { name: 'Before' })
    .getByRole('listitem')
    .filter({ hasText: /Prepare release/ })
    .first()
    .waitFor();
  await panel.getByRole('region', { name: 'After' }).getByRole('listitem').first().waitFor();
  await panel.getByRole('group', { name: 'Compactions' }).getByRole('button').first().click();
  await page.waitForURL(/compaction=1/);
  assert.deepEqual(page.wrongs, []);
  await page.goto(`${world.address}/tasks/${checkout.id}?tab=compactions`);
  await panel.getByText('No compactions').waitFor();
  await page.close();
});

test('the drawer shows an event and its sources, and copies commands and IDs', async () => {
  const { items } = await world.get(`/api/v1/tasks/${checkout.id}/tool-calls?limit=500`);
  const failed = items.find((call) => call.state === 'failed' && call.title.includes('npm test'));
  const page = await open(`?event=${failed.id}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const drawer = page.getByRole('complementary', { name: 'Event' });
  for (const text of [/^failed$/, /^measured$/, /^exit code \d+$/, /^Sources$/, /^Command analysis$/])
    await drawer.getByText(text).first().waitFor();
  for (const channel of ['hook', 'transcript']) await drawer.getByText(channel, { exact: true }).first().waitFor();
  await drawer.getByRole('button', { name: 'copy' }).first().click();
  await page.getByText('Command copied').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'npm test -- total');
  await drawer.getByRole('button', { name: failed.toolUseId }).first().click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), failed.toolUseId);
  await drawer.getByRole('button', { name: 'JSON' }).click();
  assert.equal(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).row.id, failed.id);
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  await page.close();
});

test('the numbers of the header open the rows behind them', async () => {
  const page = await open();
  for (const [name, tab] of [
    ['Failed', 'Errors'],
    ['Subagents', 'Tree'],
    ['Cost', 'Tokens'],
    ['Calls', 'Waterfall'],
  ]) {
    await page.getByRole('button', { name: new RegExp(`^${name} .*show the rows`) }).click();
    await page.getByRole('tab', { name: tab, selected: true }).waitFor();
  }
  await page.close();
});

test('an unknown task and an unknown page are reported', async () => {
  const page = await world.page('/tasks/unknown');
  await page.getByText('Task not found').waitFor();
  await page.goto(`${world.address}/nowhere`);
  await page.getByText('Page not found').waitFor();
  await page.close();
});
