/** Rules: which there are, what they decided or would have, and what a draft would have done. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { World } from './world.mjs';

/** @type {World} */
let world;
before(async () => {
  world = await World.demo();
  await world.until('/api/v1/policies/decisions', (decisions) =>
    ['ask-before-push', 'look-at-the-first-error'].every((rule) => decisions.some((one) => one.rule === rule)),
  );
});
after(async () => {
  await world?.stop();
});

test('every rule shows its trigger, decision and counts, and each number opens its decisions', async () => {
  const page = await world.page('/policies');
  const rules = page.getByRole('region', { name: /^Rules/ });
  await rules.getByRole('row', { name: /no-recursive-delete .*PreToolUse.*deny.*enforced/ }).waitFor();
  const push = rules.getByRole('row', { name: /ask-before-push .*git.*push.*ask.*dry run/ });
  await push.getByRole('link', { name: 'ask 1' }).click();
  await page.waitForURL(
    (url) => url.searchParams.get('rule') === 'ask-before-push' && url.searchParams.get('decision') === 'ask',
  );
  const decisions = page.getByRole('region', { name: 'Decisions' });
  await decisions.getByRole('row', { name: /ask-before-push/ }).waitFor();
  await decisions.getByRole('row', { name: /look-at-the-first-error/ }).waitFor({ state: 'hidden' });
  assert.deepEqual(page.wrongs, []);
  await page.close();
});

test('dry runs are distinguished from enforced rules, and a decision opens its call', async () => {
  const page = await world.page('/policies?mode=enforce');
  const decisions = page.getByRole('region', { name: 'Decisions' });
  await decisions.getByText('No decision matches these filters').waitFor();
  await decisions.getByLabel('Mode').selectOption('dry_run');
  await page.waitForURL(/mode=dry_run/);
  await decisions.getByRole('row', { name: /look-at-the-first-error.*dry run/ }).waitFor();
  await decisions.getByRole('row', { name: /ask-before-push.*dry run/ }).click();
  await page.waitForURL(/\/tasks\/.*event=/);
  await page
    .getByRole('complementary', { name: 'Event' })
    .getByText(/git push origin/)
    .first()
    .waitFor();
  await page.close();
});

test('a draft is back-tested by a signed-in browser: mistakes by line, then calls by rule', async () => {
  const page = await world.page('/policies');
  const backtest = page.getByRole('region', { name: /^Backtest/ });
  await backtest.getByText(/Read-only/).waitFor();
  assert.ok(await backtest.getByRole('button', { name: 'Run' }).isDisabled());
  await page.goto(world.link);
  await page.goto(`${world.address}/policies`);
  const draft = backtest.getByRole('textbox');
  await draft.fill('version = 1\n\n[[rule]]\nname = "x"\non = "PreToolUse"\ndecision = "forbid"\n');
  await backtest.getByRole('button', { name: 'Run' }).click();
  await backtest
    .getByRole('alert')
    .getByText(/line \d+, column \d+/)
    .first()
    .waitFor();
  // A refused question is an error in the console of every browser, and a mistake in a draft is no fault of the page.
  page.wrongs.length = 0;
  await draft.fill(
    'version = 1\n\n[[rule]]\nname = "no-push"\non = "PreToolUse"\ndecision = "deny"\nreason = "not today"\nmatch.command = { program = "git", subcommand = "push" }\n',
  );
  await draft.press('Control+Enter');
  await backtest.getByRole('heading', { name: /no-push.*denied \d+/ }).waitFor();
  await backtest
    .getByRole('link', { name: /deny.*(push|Push)/ })
    .first()
    .click();
  await page.waitForURL(/\/tasks\/.*event=/);
  assert.deepEqual(page.wrongs, []);
  await page.close();
});
