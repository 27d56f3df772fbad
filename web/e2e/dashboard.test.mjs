/** The dashboard in a real browser, on the real server: every page, live updates, filters, links, keys, a break. */
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

const session = 'e2e00000-0000-4000-8000-000000000001';
const base = { session_id: session, cwd: '/srv/e2e', transcript_path: `/srv/none/${session}.jsonl` };

async function taskNamed(words) {
  const { items } = await world.get(`/api/v1/tasks?limit=500`);
  const task = items.find((item) => item.title.includes(words));
  assert.ok(task, `a task is named ${words}`);
  return task;
}

test('every page opens in both themes without errors, other hosts or serious accessibility faults', async () => {
  const task = await taskNamed('agent_parallel');
  for (const colorScheme of ['dark', 'light']) {
    for (const path of [
      '/',
      '/tasks',
      `/tasks/${task.id}`,
      '/insights',
      '/search?q=canary',
      '/policies',
      '/tracer',
      '/settings',
    ]) {
      const page = await world.page(path, { colorScheme });
      await page.getByRole('heading').first().waitFor({ state: 'attached' });
      await page.waitForLoadState('load');
      assert.deepEqual(await seriousFaults(page), [], `${path} ${colorScheme}`);
      assert.deepEqual(page.wrongs, [], `${path} ${colorScheme}`);
      await page.close();
    }
  }
});

test('the list shows every task, and the address holds the filter', async () => {
  const page = await world.page('/tasks?q=agent_nested');
  await page.getByText('Delegate [[agent_nested]]').first().waitFor();
  assert.equal(await page.getByText('Search [[web]]').count(), 0);
  await page.getByLabel('Title or session').fill('');
  await page.getByText('Search [[web]]').first().waitFor();
  assert.ok(!page.url().includes('agent_nested'));
  await page.close();
});

test('a task shows its subagents on the timeline, and its lists', async () => {
  const task = await taskNamed('agent_nested');
  const page = await world.page(`/tasks/${task.id}`);
  await page.locator('canvas').first().waitFor();
  await page.getByText('general-purpose').first().waitFor();
  for (const tab of ['Tree', 'Turns', 'Commands', 'Tokens']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel').first().waitFor();
  }
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('the activity of an agent and its requests are on the page at once', async () => {
  const page = await world.page('/');
  await page.getByRole('heading').first().waitFor({ state: 'attached' });
  await world.hook({ ...base, hook_event_name: 'SessionStart', source: 'startup' });
  await world.hook({ ...base, hook_event_name: 'UserPromptSubmit', prompt: 'Watch the river', prompt_id: 'p1' });
  await page.getByText('Watch the river').first().waitFor({ timeout: 5000 });
  const call = { tool_name: 'Bash', tool_input: { command: 'cargo test -p river' }, tool_use_id: 'toolu_e2e1' };
  await world.hook({ ...base, ...call, hook_event_name: 'PreToolUse', prompt_id: 'p1' });
  await page
    .getByText(/cargo test/)
    .first()
    .waitFor({ timeout: 5000 });
  await world.hook({ ...base, ...call, hook_event_name: 'PermissionRequest', prompt_id: 'p1' });
  const { items } = await world.get('/api/v1/attention');
  assert.ok(items.some((item) => item.title === 'Watch the river' && item.reason === 'permission'));
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('hostile texts are shown and do nothing', async () => {
  const hostile = '<img src=x onerror="globalThis.owned=1"> \u001b[31mred \u202etxt.exe';
  await world.hook({ ...base, session_id: 'e2e-hostile', hook_event_name: 'UserPromptSubmit', prompt: hostile });
  const page = await world.page('/tasks');
  await page.getByText('onerror').first().waitFor({ timeout: 5000 });
  assert.equal(await page.evaluate(() => globalThis.owned), undefined);
  await page.close();
});

test("the lag and the problem of a team's server are shown where sessions are shipped to one", async () => {
  const page = await world.page('/tracer');
  await page.getByRole('heading', { name: 'Spool' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Team' }).count(), 0);
  await page.route('**/api/v1/health', async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({
      json: { ...answer, ship: { to: 'https://team.example:4747', behind: 1234, problem: 'the token was refused' } },
    });
  });
  const team = page.getByRole('region', { name: 'Team' });
  await team.getByText('https://team.example:4747').waitFor();
  await team.getByRole('row', { name: /behind 1,234/ }).waitFor();
  await team.getByText('the token was refused').waitFor();
  assert.deepEqual(await seriousFaults(page), []);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
});

test('the keyboard opens the palette and the map of keys', async () => {
  const page = await world.page('/tasks');
  await page.getByText('Search [[web]]').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').first().waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog').first().waitFor();
  await page.close();
});

test('a lost server is reported, and the page reconnects by itself', async () => {
  const page = await world.page('/tasks');
  await page.getByText('Search [[web]]').first().waitFor();
  await world.stopServer();
  await page
    .getByText(/offline/i)
    .first()
    .waitFor({ timeout: 20000 });
  await world.startServer();
  await page.getByText('live', { exact: true }).first().waitFor({ timeout: 60000 });
  await page.close();
});
