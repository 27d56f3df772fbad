/** What happens while one looks: who waits longest, what fails, what is hostile, what the server does not answer. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { World } from './world.mjs';

/** @type {World} */
let world;
before(async () => {
  world = await World.start({ history: false });
});
after(async () => {
  await world?.stop();
});

const said = (id) => ({
  session_id: `e2e-${id}`,
  cwd: '/srv/e2e',
  transcript_path: `/srv/none/${id}.jsonl`,
  prompt_id: 'p1',
});
const prompt = (id, text) => world.hook({ ...said(id), hook_event_name: 'UserPromptSubmit', prompt: text });
const ask = async (id, command) => {
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `toolu_${id}` };
  await world.hook({ ...said(id), ...call, hook_event_name: 'PreToolUse' });
  await world.hook({ ...said(id), ...call, hook_event_name: 'PermissionRequest' });
  return call;
};
const taskOf = (id) =>
  world.until('/api/v1/tasks', (tasks) => tasks.find((task) => task.runtimeSessionId === `e2e-${id}`));

test('tasks that need a person are listed oldest first, with a running clock, and disappear when answered', async () => {
  const page = await world.page('/');
  await prompt('first', 'Mend the fence');
  const call = await ask('first', 'git push origin fence');
  await prompt('second', 'Paint the gate');
  await ask('second', 'git push origin gate');
  const waits = page.getByRole('region', { name: 'Needs you' });
  await waits.getByText('Paint the gate').waitFor();
  assert.deepEqual(
    await waits
      .getByRole('listitem')
      .evaluateAll((items) => items.map((item) => /Mend|Paint/.exec(item.textContent)?.[0])),
    ['Mend', 'Paint'],
  );
  // Its clock goes on by itself.
  const clock = waits.getByRole('listitem').first().locator('.num');
  const before = await clock.textContent();
  await page.waitForFunction(([element, text]) => element.textContent !== text, [await clock.elementHandle(), before]);
  await page.getByTitle('2 tasks need you').waitFor();
  await world.hook({ ...said('first'), ...call, hook_event_name: 'PostToolUse', tool_response: {} });
  await waits.getByText('Mend the fence').waitFor({ state: 'hidden' });
  await page.getByTitle('1 task needs you').waitFor();
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('a call that fails is on the live page at once and opens where it happened', async () => {
  const page = await world.page('/');
  await page.getByRole('region', { name: 'Recent failures' }).waitFor();
  await prompt('fails', 'Count the sheep');
  const call = { tool_name: 'Bash', tool_input: { command: 'count --sheep' }, tool_use_id: 'toolu_fails' };
  await world.hook({ ...said('fails'), ...call, hook_event_name: 'PreToolUse' });
  await world.hook({
    ...said('fails'),
    ...call,
    hook_event_name: 'PostToolUseFailure',
    error: 'Exit code 2',
    is_interrupt: false,
  });
  const failure = page.getByRole('region', { name: 'Recent failures' }).getByRole('link', { name: /count/ });
  await failure.click();
  await page.waitForURL(/\/tasks\/.*event=/);
  await page.getByRole('complementary', { name: 'Event' }).getByText('failed', { exact: true }).first().waitFor();
  await page.close();
});

test('what runs grows, can be followed, and stops when it ends', async () => {
  await prompt('runs', 'Water the trees');
  const call = { tool_name: 'Bash', tool_input: { command: 'water --all trees' }, tool_use_id: 'toolu_runs' };
  await world.hook({ ...said('runs'), ...call, hook_event_name: 'PreToolUse' });
  const task = await taskOf('runs');
  const page = await world.page(`/tasks/${task.id}`);
  const lanes = page.getByRole('table', { name: 'Lanes of the timeline' });
  await lanes.getByRole('row', { name: /Edits & commands 1 0 1/ }).waitFor({ state: 'attached' });
  await page
    .getByRole('toolbar')
    .getByText(/water --all/)
    .waitFor();
  const follow = page.getByRole('button', { name: 'Follow' });
  await follow.click();
  assert.equal(await follow.getAttribute('aria-pressed'), 'true');
  await world.hook({ ...said('runs'), ...call, hook_event_name: 'PostToolUse', tool_response: {} });
  await lanes.getByRole('row', { name: /Edits & commands 1 0 0/ }).waitFor({ state: 'attached' });
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('hostile texts of any size stay texts on every page', async () => {
  const hostile = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=2</script>\u001b[31mred\u001b]8;;https://evil.example\u0007link \u202etxt.exe\u2066 ${'A'.repeat(1_000_000)}`;
  await prompt('hostile', hostile);
  const call = {
    tool_name: 'Bash',
    tool_input: { command: `echo "${hostile}"`, description: hostile },
    tool_use_id: 'toolu_hostile',
  };
  await world.hook({ ...said('hostile'), ...call, hook_event_name: 'PreToolUse' });
  const task = await taskOf('hostile');
  const calls = await world.until(`/api/v1/tasks/${task.id}/tool-calls`, (items) => items.length > 0 && items);
  for (const path of [
    '/',
    '/tasks',
    `/tasks/${task.id}?event=${encodeURIComponent(calls[0].id)}&tab=commands`,
    `/tasks/${task.id}?tab=turns`,
    '/search?q=onerror',
    '/insights',
  ]) {
    const page = await world.page(path);
    await page.getByRole('heading').first().waitFor({ state: 'attached' });
    await page.waitForLoadState('load');
    if (path !== '/insights')
      await page
        .getByText(/onerror/)
        .first()
        .waitFor({ state: 'attached' });
    assert.equal(await page.evaluate(() => globalThis.owned), undefined, path);
    assert.equal(await page.locator('img[src="x"]').count(), 0, path);
    const text = await page.evaluate(() => document.body.innerText);
    assert.ok(!/[\u001b\u0007\u202e\u2066]/.test(text), `${path} shows what would be obeyed`);
    assert.ok(text.length < 200_000, `${path} shows ${text.length} letters`);
    const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${path} is ${over} pixels too wide`);
    assert.deepEqual(page.wrongs, [], path);
    await page.close();
  }
});

test('a failed request is reported in its place, and can be retried', async () => {
  for (const [path, asked] of [
    ['/tasks', '**/api/v1/tasks?*'],
    ['/insights', '**/api/v1/tools?*'],
    ['/search?q=fence', '**/api/v1/search?*'],
    ['/settings', '**/api/v1/settings'],
  ]) {
    const page = await world.page('/tracer');
    await page.route(asked, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: '{"title":"the store is busy","detail":"try again"}',
      }),
    );
    await page.goto(world.address + path);
    await page
      .getByRole('alert')
      .getByText(/the store is busy/i)
      .waitFor();
    await page.unroute(asked);
    await page.getByRole('button', { name: 'Retry' }).first().click();
    await page.getByText(/the store is busy/i).waitFor({ state: 'hidden' });
    await page.close();
  }
});

test('outdated data is not called live: the cards fade, the banner gives the time, and everything comes back', async () => {
  const page = await world.page('/');
  await page.getByText('Paint the gate').first().waitFor();
  await world.stopServer();
  await page.getByRole('status').getByText('offline', { exact: true }).waitFor();
  await page.getByText(/Connection lost at/).waitFor();
  assert.ok((await page.locator('.page.old article').count()) > 0, 'cards look old');
  // Pages that are opened while the server is away show what was known, or say that nothing is known.
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByRole('heading', { name: 'Tasks' }).waitFor({ state: 'attached' });
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await page.getByText('Paint the gate').first().waitFor();
  assert.equal(await page.getByText('0 agents').count(), 0);
  assert.equal(await page.getByText('No agent is running').count(), 0);
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByText('Unavailable until the server is back').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await world.startServer();
  await page.getByRole('status').getByText('live', { exact: true }).waitFor();
  await page.getByText(/Connection lost at/).waitFor({ state: 'hidden' });
  await prompt('after', 'Feed the hens');
  await page.getByText('Feed the hens').first().waitFor();
  await page.close();
});

test('something is painted before the program runs, in the colours that were chosen', async () => {
  const context = await world.browser.newContext({ javaScriptEnabled: false });
  const bare = await context.newPage();
  await bare.goto(`${world.address}/`);
  await bare.getByText('Agent Tracer', { exact: true }).waitFor();
  await context.close();
  const page = await world.page('/settings', { colorScheme: 'dark' });
  await page.getByLabel('Light').check();
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  await page.close();
});

test('what happened between the first answers and the stream is shown once the stream stands', async () => {
  const page = await world.page('/settings');
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  await page.route(/\/api\/v1\/stream/, async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto(`${world.address}/`);
  const waits = page.getByRole('region', { name: 'Needs you' });
  await waits.getByRole('listitem').first().getByText(/\S/).first().waitFor();
  await prompt('gap', 'Oil the hinge');
  await ask('gap', 'git push origin hinge');
  await world.until('/api/v1/attention', (items) => items.some(({ title }) => title === 'Oil the hinge'));
  assert.equal(await waits.getByText('Oil the hinge').count(), 0);
  open();
  await waits.getByText('Oil the hinge').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
});
