/**
 * Takes the README's pictures from `agent-tracer demo`, in a real browser: `npm run pictures`.
 *
 * `npm run pictures -- --all DIR` takes every page, in both colours and several widths, to be looked at.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { front } from './front.mjs';
import { smaller } from './png.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tracer = process.env['AGENT_TRACER'] ?? join(root, 'dist/agent-tracer');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const everything = process.argv.indexOf('--all');
const folder = everything > 0 ? process.argv[everything + 1] : join(root, 'docs/images');
/** What a picture of the README may weigh. */
const mostBytes = 200_000;
/** In which lists and charts come to rest. */
const SETTLE_MS = 1500;

const { demo, address: behind } = await startDemo();
const before = process.env['AGENT_TRACER_DIST'] ? await front(process.env['AGENT_TRACER_DIST'], behind) : undefined;
const address = before?.address ?? behind;
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
try {
  mkdirSync(folder, { recursive: true });
  if (everything > 0) await takeAll();
  else await takeReadme();
} finally {
  await browser.close();
  await before?.stop();
  const gone = new Promise((resolve) => demo.once('exit', resolve));
  demo.kill('SIGTERM');
  await gone;
}

async function startDemo() {
  const demo = spawn(tracer, ['demo', '--once', ...(everything > 0 ? ['--speed', '8'] : [])]);
  let said = '';
  const address = await new Promise((resolve, reject) => {
    demo.stderr.on('data', (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found && said.includes('stop ')) resolve(found[0]);
    });
    demo.once('exit', (code) => reject(new Error(`demo ended with ${code}: ${said}`)));
  });
  demo.removeAllListeners('exit');
  return { demo, address };
}

/** Asks until the answer is as wanted. */
async function until(path, wanted, limitMs = 180_000) {
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    const found = wanted((await (await fetch(address + path)).json()).items);
    if (found) return found;
    await pause(500);
  }
  throw new Error(`${path} was never as it has to be for a picture`);
}

async function takeReadme() {
  // Four agents at work and one that asks: that is over after seconds, so it comes first.
  await take('live', '/', { width: 1500, height: 880, scale: 1.5 }, (page) =>
    page.getByText('Permission asked: Tag').first().waitFor({ timeout: 120_000 }),
  );

  const task = await until('/api/v1/tasks?kind=primary', (tasks) =>
    tasks.find((task) => task.status === 'running' && task.title.startsWith('Checkout')),
  );
  // Subagents are back, a test has failed and the next one runs: the most there is to see at once.
  await until(`/api/v1/tasks/${task.id}/tool-calls?limit=500`, (calls) => {
    const tests = calls.filter((call) => call.title.includes('npm test'));
    return tests.length > 1 && tests.some((call) => call.state === 'failed') && tests;
  });
  await take('timeline', `/tasks/${task.id}`, { width: 1240, height: 800 }, (page) =>
    page.getByRole('button', { name: 'Expand general-purpose' }).first().click(),
  );
  await take('insights', '/insights', { width: 1240, height: 800 }, (page) =>
    page.getByRole('link', { name: 'Bash', exact: true }).first().waitFor(),
  );
}

/**
 * Takes a page in both colours at once, so that both show the same moment: packing a picture takes seconds, in which
 * the demo goes on. Without movement, since half of a movement is no picture.
 */
async function take(name, path, { scale: deviceScaleFactor = 2, ...viewport }, prepare) {
  const pages = await Promise.all(
    ['dark', 'light'].map(async (colorScheme) => {
      const page = await browser.newPage({ colorScheme, viewport, deviceScaleFactor, reducedMotion: 'reduce' });
      await page.goto(address + path);
      await prepare(page);
      return { colorScheme, page };
    }),
  );
  await pause(SETTLE_MS);
  const pictures = await Promise.all(pages.map(({ page }) => page.screenshot()));
  for (const [i, { colorScheme, page }] of pages.entries()) {
    save(pictures[i], `${name}-${colorScheme}`);
    await page.close();
  }
}

async function takeAll() {
  const find = async (words, status) =>
    (
      await until('/api/v1/tasks?kind=primary', (tasks) =>
        tasks.find((task) => task.title.startsWith(words) && status.includes(task.status)),
      )
    ).id;
  const ends = ['completed', 'failed'];
  const paths = {
    live: '/',
    tasks: '/tasks',
    insights: '/insights',
    search: '/search?q=price',
    health: '/tracer',
    settings: '/settings',
    checkout: `/tasks/${await find('Checkout', ends)}`,
    release: `/tasks/${await find('Prepare', ends)}`,
  };
  for (const [name, path] of Object.entries(paths)) {
    for (const [look, colorScheme, width, height] of [
      ['dark', 'dark', 1280, 800],
      ['light', 'light', 1920, 1080],
      ['phone', 'dark', 390, 844],
    ]) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height } });
      await page.goto(address + path);
      await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {});
      save(await page.screenshot(), `${name}-${look}`);
      await page.close();
    }
  }
}

function save(screenshot, name) {
  const picture = smaller(screenshot);
  if (everything < 0 && picture.length > mostBytes)
    throw new Error(`${name} has ${picture.length} bytes, over ${mostBytes}`);
  writeFileSync(join(folder, `${name}.png`), picture);
  console.log(`${join(folder, name)}.png  ${Math.round(picture.length / 1024)} KB`);
}
