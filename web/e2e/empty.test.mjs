/** A home in which nothing has happened yet: every page says why it is empty and what to do. */
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

test('empty pages give the command that fills them', async () => {
  for (const path of ['/', '/tasks', '/insights', '/policies']) {
    const page = await world.page(path);
    await page
      .getByText(/agent-tracer (install|import|policy init)/)
      .first()
      .waitFor({ timeout: 5000 });
    assert.deepEqual(page.wrongs, [], path);
    await page.close();
  }
});
