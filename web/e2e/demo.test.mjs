/** The dashboard on the demo: every page full, at every width; links, keys, finding, selected time, dead letters. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { seriousFaults } from './access.mjs';
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

const LOOKS = [
  ['dark', 1280, 800],
  ['light', 1920, 1080],
  ['dark', 390, 844],
];

/** From this width on nothing has to scroll sideways; below it tables may, in a box of their own. */
const DESK_PX = 1280;

/**
 * Returns what is wider than its place. The document never is: `main` scrolls instead, and a section may hide what
 * stands over its edge, so each of them is measured. Runs in the page.
 */
function findCutParts(mustFit) {
  const main = document.getElementById('main');
  const cut = [
    ['document', document.scrollingElement.scrollWidth - innerWidth],
    ['main', main.scrollWidth - main.clientWidth],
  ];
  const scrolls = (element) => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  for (const table of main.querySelectorAll('section table')) {
    const section = table.closest('section');
    let isReachable = false;
    for (let at = table.parentElement; at !== section.parentElement; at = at.parentElement) isReachable ||= scrolls(at);
    if (isReachable && !mustFit) continue;
    const over = table.getBoundingClientRect().right - section.getBoundingClientRect().right;
    cut.push([section.getAttribute('aria-label') ?? section.querySelector('h2')?.textContent, Math.round(over)]);
  }
  return cut.filter(([, over]) => over > 0).map(([what, over]) => `${what} is ${over} pixels too wide`);
}

test('every page is full, fits its width and has no serious accessibility faults', async () => {
  for (const [colorScheme, width, height] of LOOKS) {
    for (const path of [
      '/',
      '/tasks',
      `/tasks/${checkout.id}`,
      `/tasks/${release.id}?tab=permissions`,
      '/insights',
      '/search?q=price',
      '/policies',
      '/tracer',
      '/settings',
    ]) {
      const page = await world.page(path, { colorScheme, viewport: { width, height } });
      await page.getByRole('heading').first().waitFor({ state: 'attached' });
      await page.waitForLoadState('load');
      const where = `${path} ${colorScheme} ${width}`;
      assert.deepEqual(await seriousFaults(page), [], where);
      assert.deepEqual(await page.evaluate(findCutParts, width >= DESK_PX), [], where);
      assert.deepEqual(page.wrongs, [], where);
      await page.close();
    }
  }
});

test('the rate limits of both agents are shown with the time of their reset', async () => {
  const page = await world.page('/');
  const limits = page.getByRole('region', { name: 'Rate limits' });
  for (const name of [
    /Claude 5 hours\s*\d+ %\s*(resets in|full at)/,
    /Claude 7 days\s*\d+ %/,
    /Codex 5 hours\s*\d+ %/,
    /Codex 7 days\s*\d+ %/,
  ])
    await limits.getByRole('listitem').filter({ hasText: name }).waitFor();
  await page.close();
});

test('a task shows its nested subagents, also in its table', async () => {
  const page = await world.page(`/tasks/${checkout.id}`);
  await page.getByRole('button', { name: 'Expand subagents' }).click();
  const lanes = page.getByRole('table', { name: 'Lanes of the timeline' });
  await lanes
    .getByText(/Count queries of one checkout, completed/)
    .first()
    .waitFor({ state: 'attached' });
  // What the bars say by their fill and the brackets by their number.
  await lanes
    .getByRole('row', { name: /^main Coordination .*\d+ measured.* 4( and \d+)* / })
    .waitFor({ state: 'attached' });
  await page.getByRole('tab', { name: 'Tree' }).click();
  await page.getByRole('tabpanel').getByText('Count queries of one checkout').first().waitFor();
  await page.getByRole('tab', { name: 'To-dos' }).click();
  await page.getByRole('tabpanel').getByText('Prove it').first().waitFor();
  await page.close();
});

test('keys find what is looked for, step through it and come back', async () => {
  const page = await world.page(`/tasks/${checkout.id}`);
  await page.getByText('Main agent').first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('npm test');
  await page.getByText(/^2$/).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/event=/);
  const first = new URL(page.url()).searchParams.get('event');
  await page.getByText('1 of 2').waitFor();
  await page.getByRole('application').focus();
  await page.keyboard.press('n');
  await page.getByText('2 of 2').waitFor();
  await page.keyboard.press('N');
  await page.getByText('1 of 2').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('event'), first);
  assert.equal(new URL(page.url()).searchParams.get('find'), 'npm test');
  await page.close();
});

test('a link brings back the window, the event, the question, the pin and the panel', async () => {
  const calls = await world.get(`/api/v1/tasks/${checkout.id}/tool-calls?limit=500`);
  const failed = calls.items.find((call) => call.state === 'failed' && call.title.includes('npm test'));
  const [from, to] = [Date.parse(failed.startedAt) - 500, Date.parse(failed.endedAt) + 500];
  const pin = `${checkout.id}/implementation`;
  const query = new URLSearchParams({
    event: failed.id,
    from,
    to,
    area: `${from}-${to}`,
    find: 'status:failed',
    pin,
    tab: 'errors',
  });
  const page = await world.page(`/tasks/${checkout.id}?${query}`);
  await page.getByRole('complementary').getByText('Run tests: npm test').first().waitFor();
  assert.equal(await page.getByLabel('Find in this task').inputValue(), 'status:failed');
  await page.getByRole('region', { name: 'Selected time' }).getByRole('row', { name: /Bash/ }).waitFor();
  const top = page.getByRole('treeitem').first();
  await top.getByText('Edits & commands').waitFor();
  assert.equal(await top.getByRole('button', { name: /Pin/ }).getAttribute('aria-pressed'), 'true');
  assert.equal(await page.getByRole('tab', { name: 'Errors' }).getAttribute('aria-selected'), 'true');
  await top.getByRole('button', { name: /Pin/ }).click({ force: true });
  await page.waitForURL((url) => !url.searchParams.has('pin'));
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('selected time becomes a table by tool, and the address knows it', async () => {
  const page = await world.page(`/tasks/${checkout.id}`);
  await page.getByText('Main agent').first().waitFor();
  await page.getByRole('application').focus();
  await page.keyboard.press('m');
  const table = page.getByRole('region', { name: 'Selected time' });
  for (const tool of ['Bash', 'Read', 'Edit', 'Agent'])
    await table.getByRole('rowheader', { name: tool, exact: true }).waitFor();
  await page.waitForURL(/area=\d+-\d+/);
  await page.reload();
  await table.getByRole('rowheader', { name: 'Bash', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await table.waitFor({ state: 'hidden' });
  await page.close();
});

test('numbers of Insights open the rows behind them, and chips narrow the search', async () => {
  const page = await world.page('/insights');
  await page.getByRole('link', { name: 'Bash', exact: true }).first().click();
  await page.waitForURL(/\/search\?/);
  assert.match(decodeURIComponent(page.url()), /tool:Bash/);
  await page.getByText(/npm/).first().waitFor();
  await page.getByLabel('Search all events').fill('tool:Bash status:failed');
  await page.getByRole('button', { name: /status:failed/ }).waitFor();
  await page
    .getByText(/npm test/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: /status:failed/ }).click();
  await page.waitForURL((url) => !url.search.includes('status'));
  await page.close();
});

test('Insights take any days, compare them with the days before and count tokens too', async () => {
  const page = await world.page('/insights?range=24h');
  await page.getByText('vs previous 24 hours').waitFor();
  const tools = page.getByRole('region', { name: 'Tools' });
  await tools.getByRole('columnheader', { name: 'vs previous' }).waitFor();
  await tools.getByRole('row', { name: /^Bash .*%/ }).waitFor();
  await page.getByRole('button', { name: 'tokens', exact: true }).click();
  await page.getByRole('figure').filter({ hasText: 'Tokens per day' }).waitFor({ state: 'attached' });
  await page.getByLabel('First day').fill('2020-01-02');
  await page.waitForURL(/since=20(19|20)-/);
  await page.getByText(/vs previous \d{4} days/).waitFor();
  await tools.getByRole('row', { name: /^Bash/ }).getByRole('link').nth(2).click();
  await page.waitForURL(
    (url) =>
      url.pathname === '/search' &&
      url.searchParams.get('q') === 'status:failed tool:Bash' &&
      url.searchParams.has('since'),
  );
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('the list shows the subagents of a task below it, and the address knows which', async () => {
  const page = await world.page('/tasks?q=Checkout&since=-1h');
  await page.getByText('Checkout takes seconds').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('o');
  await page.getByRole('row', { name: /Count queries of one checkout/ }).waitFor();
  await page.waitForURL(/open=/);
  await page.reload();
  await page.getByRole('row', { name: /Study the query plan/ }).waitFor();
  await page.getByRole('button', { name: 'Hide 3 subagents' }).click();
  await page.getByRole('row', { name: /Study the query plan/ }).waitFor({ state: 'hidden' });
  await page.close();
});

test('the whole way from the list to an event needs no mouse', async () => {
  const page = await world.page('/tasks?q=Checkout');
  await page.getByText('Checkout takes seconds').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tasks\/./);
  await page.getByText('Main agent').first().waitFor();
  await page.keyboard.press('.');
  await page.waitForURL(/event=/);
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.searchParams.has('event'));
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForURL(/\/search/);
  await page.getByLabel('Search all events').waitFor();
  // What a key has opened leaves the keyboard to the next one.
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.waitForURL(/\/insights/);
  // A dialog takes Escape for itself: what is behind it stays.
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: /key/i }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Commands and tasks' }).fill('health');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/tracer/);
  await page.close();
});

test('a read-only browser sees the reason of a dead letter; a signed-in browser requeues it', async () => {
  const torn = '00000000005000000000-7-1';
  writeFileSync(join(world.data, 'tracer/spool/new', torn), 'not an envelope', { mode: 0o600 });
  await world.until('/api/v1/health', (health) => health.spool.quarantined === 1);
  const page = await world.page('/tracer');
  await page.getByRole('heading', { name: 'Dead letters' }).waitFor();
  assert.ok(await page.getByRole('button', { name: `Requeue ${torn}` }).isDisabled());
  assert.deepEqual(await seriousFaults(page), []);
  await page.goto(world.link);
  await page.goto(`${world.address}/tracer`);
  const requeue = page.getByRole('button', { name: `Requeue ${torn}` });
  await requeue.click();
  await page.getByText('Requeued').first().waitFor();
  // As unreadable as before, so it comes back.
  await world.until('/api/v1/health', (health) => health.spool.quarantined === 1 && health.spool.waiting === 0);
  await page.close();
});

test('reduced motion is obeyed', async () => {
  const page = await world.page(`/tasks/${checkout.id}`);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const moving = await page.evaluate(() =>
    [...document.querySelectorAll('*')]
      .filter((element) => {
        const style = getComputedStyle(element);
        const seconds = (text) => Math.max(...text.split(',').map((part) => parseFloat(part) || 0));
        return seconds(style.animationDuration) > 0.01 || seconds(style.transitionDuration) > 0.01;
      })
      .map((element) => element.className),
  );
  assert.deepEqual(moving, []);
  await page.close();
});
