/**
 * Owners of sessions on a team's server. The server of this test is of one machine, so its answers are given to two
 * people on the way, as a team's server answers; the same session belongs to each of them once.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { seriousFaults } from './access.mjs';
import { World } from './world.mjs';

/** @type {World} */
let world;
before(async () => {
  world = await World.start();
});
after(async () => {
  await world?.stop();
});

/**
 * A page that a team's server of two people seems to answer; `asked` holds every question, with the person it named.
 */
async function teamPage(path, asked) {
  const page = await world.page('/settings');
  const spent = (names, [agent]) => (agent ? names.map((key) => ({ ...agent, key })) : []);
  await page.route(/\/api\/v1\/(?!stream)/, async (route) => {
    const url = new URL(route.request().url());
    const owner = url.searchParams.get('owner');
    asked.push(`${url.pathname}${owner ? `?owner=${owner}` : ''}`);
    const by = url.searchParams.get('by');
    for (const name of ['owner', 'machine']) url.searchParams.delete(name);
    if (by === 'owner' || by === 'machine') url.searchParams.set('by', 'agent');
    const answer = await (await route.fetch({ url: url.href })).json();
    if (url.pathname.endsWith('/health')) answer.store.kind = 'clickhouse';
    if (url.pathname.endsWith('/tree')) for (const node of answer.items) node.task.owner = owner;
    if (url.pathname.endsWith('/api/v1/tasks'))
      answer.items = answer.items.flatMap((task) =>
        ['ann', 'bob'].filter((name) => !owner || owner === name).map((name) => ({ ...task, owner: name })),
      );
    if (by === 'owner') answer.items = spent(['ann', 'bob'], answer.items);
    if (by === 'machine') answer.items = spent(['desk'], answer.items);
    await route.fulfill({ json: answer });
  });
  await page.goto(world.address + path);
  return page;
}

async function leave(page) {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
}

test('on one machine no person can be chosen', async () => {
  const page = await world.page('/tasks');
  await page.getByText('Search [[web]]').first().waitFor();
  assert.equal(await page.getByLabel('Person', { exact: true }).count(), 0);
  assert.equal(await page.getByRole('columnheader', { name: 'Person' }).count(), 0);
  await page.close();
});

test('tasks show their owners, also where two have the same session, and are filtered by person', async () => {
  const asked = [];
  const page = await teamPage('/tasks', asked);
  await page.getByRole('columnheader', { name: 'Person' }).waitFor();
  await page.getByRole('gridcell', { name: 'ann' }).first().waitFor();
  await page.getByRole('gridcell', { name: 'bob' }).first().waitFor();
  assert.equal(await page.getByLabel('Machine').count(), 0, 'there is one machine');
  await page.getByLabel('Person', { exact: true }).selectOption('ann');
  await page.waitForURL(/owner=ann/);
  await page.waitForFunction(
    () => ![...document.querySelectorAll('[role=gridcell]')].some((cell) => cell.textContent === 'bob'),
  );
  assert.ok(asked.includes('/api/v1/tasks?owner=ann'), asked.join());
  assert.deepEqual(await seriousFaults(page), []);
  assert.deepEqual(page.wrongs, []);
  await leave(page);
});

test('insights list people, and the rows behind a number are those of the person', async () => {
  const asked = [];
  const page = await teamPage('/insights?range=365d', asked);
  const people = page.getByRole('region', { name: 'People' });
  await people.getByText('bob').waitFor();
  assert.match((await people.getByRole('link', { name: 'bob' }).getAttribute('href')) ?? '', /^\/tasks\?owner=bob&/);
  await page.getByLabel('Person', { exact: true }).selectOption('bob');
  await page.waitForURL(/owner=bob/);
  await page.waitForFunction(() => document.querySelector('dl.heads a[href*="owner"]') !== null);
  for (const path of ['tools', 'usage', 'activity', 'files', 'loops'])
    assert.ok(asked.includes(`/api/v1/${path}?owner=bob`), path);
  assert.deepEqual(await seriousFaults(page), []);
  await leave(page);
});

test('a session of two people opens as the chosen one, and every request of its page names the owner', async () => {
  const asked = [];
  const page = await teamPage('/tasks?q=web', asked);
  await page.getByRole('row').filter({ hasText: 'bob' }).getByRole('link').first().click();
  await page.waitForURL(/\/tasks\/[^?]+\?owner=bob/);
  await page.getByRole('button', { name: /^Calls/ }).waitFor();
  const commands = page.waitForResponse(/\/commands\?/);
  for (const key of ['t', 'c']) await page.keyboard.press(key);
  await commands;
  assert.match(page.url(), /owner=bob/);
  await page.reload();
  await page.getByRole('button', { name: /^Calls/ }).waitFor();
  const ofTask = asked.filter((path) => /\/tasks\/./.test(path));
  assert.ok(ofTask.length > 8, ofTask.join());
  assert.deepEqual(
    ofTask.filter((path) => !path.endsWith('?owner=bob')),
    [],
  );
  assert.deepEqual(page.wrongs, []);
  await leave(page);
});

test('live is filtered by person, links to the rows of that person, and shows who is needed', async () => {
  const asked = [];
  const page = await teamPage('/', asked);
  await page.getByRole('heading', { name: 'Needs a person' }).waitFor();
  await page.getByText('bob · ').first().waitFor();
  asked.length = 0;
  await page.getByLabel('Person', { exact: true }).selectOption('ann');
  await page.waitForURL(/owner=ann/);
  await page.waitForFunction(() => !document.body.innerText.includes('bob · '));
  for (const path of ['tasks', 'attention', 'activity', 'limits', 'usage/blocks', 'search'])
    assert.ok(asked.includes(`/api/v1/${path}?owner=ann`), path);
  assert.match((await page.locator('a[href^="/tasks/"]').first().getAttribute('href')) ?? '', /\?owner=ann/);
  assert.deepEqual(await seriousFaults(page), []);
  assert.deepEqual(page.wrongs, []);
  await leave(page);
});

test('an ambiguous link is reported instead of showing one session', async () => {
  const page = await world.page('/settings');
  const detail = 'more than one person has this session: name the `owner`, `ann` or `bob`';
  await page.route(/\/api\/v1\/tasks\/./, (route) =>
    route.fulfill({ status: 400, json: { title: 'the request is not understood', detail } }),
  );
  await page.goto(`${world.address}/tasks/tx6hxv40msedx8yrgk5ed`);
  await page.getByText('`ann` or `bob`').waitFor();
  await page.getByRole('button', { name: 'All tasks' }).click();
  await page.waitForURL(/\/tasks$/);
  await leave(page);
});
