/**
 * What the dashboard costs in a real Chromium, against a real server: `node bench/ui/run.mjs [--json FILE]`. With `--dist DIR`
 * a dashboard that was only built (`npm run build`) stands in front of the program, instead of the one inside of it.
 *
 * A task of 100,000 events: how long until its timeline is drawn, and how many frames a second while it is panned and
 * zoomed. Fifty agents at 200 events a second: how many frames the live page misses. How far the page jumps while it loads,
 * and what the script weighs. Frames are counted in Chromium's own trace; a blank page that draws one square is measured in
 * the same run, because a machine that cannot do better is not the dashboard's fault.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { drawnFrames, frameNumbers, mainThreadMsPerFrame } from './frames.mjs';
import { front } from '../../web/scripts/front.mjs';
import { SESSION, writeHistory } from './history.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');
const option = (name, fallback) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : fallback);
const tracer = option('--tracer', join(root, 'dist/agent-tracer'));
const events = Number(option('--events', '100000'));
const moveMs = Number(option('--move-ms', '5000'));
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

const home = mkdtempSync(join(tmpdir(), 'agent-tracer-bench-ui-'));
const env = { ...process.env, AGENT_TRACER_HOME: join(home, 'tracer'), CLAUDE_CONFIG_DIR: join(home, 'claude'), CODEX_HOME: join(home, 'codex') };
const results = [];
/** Talk goes to standard error. */
const say = (text) => process.stderr.write(`${text}\n`);
const note = (what, value, unit, goal, holds, digits = 2) => results.push({ what, value: Number(value.toFixed(digits)), unit, goal, holds });

let server;
let before;
let browser;
try {
  say(`writing ${events} events`);
  // Each call appears twice: as a call, and as the answer of the model that requested it.
  writeHistory(env.CLAUDE_CONFIG_DIR, events / 2, Date.now() - 3_600_000);
  say('importing them');
  const done = spawnSync(tracer, ['import', '--json'], { env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`import failed: ${done.stderr}`);
  let address = await serve();
  const dist = option('--dist');
  if (dist) {
    before = await front(dist, address);
    address = before.address;
  }
  browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  say('a blank page');
  const blank = await blankPage(address);
  say('the big task');
  await bigTask(address, blank);
  say('fifty agents');
  await busyLive(address, blank);
  weight();
} finally {
  await browser?.close();
  await before?.stop();
  if (server?.exitCode === null) {
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await gone;
  }
  rmSync(home, { recursive: true, force: true });
}
console.table(Object.fromEntries(results.map(({ what, value, unit, goal, holds }) => [what, { value, unit, goal: goal ?? '', '': holds === undefined ? '' : holds ? 'holds' : 'DOES NOT HOLD' }])));
const file = option('--json');
if (file) writeFileSync(file, `${JSON.stringify({ events, results }, null, 1)}\n`);
process.exitCode = results.some(({ holds }) => holds === false) ? 1 : 0;

async function serve() {
  server = spawn(tracer, ['serve', '--listen', '127.0.0.1:0'], { env });
  let said = '';
  return new Promise((resolve, reject) => {
    server.stderr.on('data', (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(found[0]);
    });
    server.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${said}`)));
  });
}

async function newPage() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    globalThis.shifts = [];
    const name = (node) => (node instanceof Element ? node : node?.parentElement)?.outerHTML.slice(0, 120) ?? 'a node that is gone';
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.shifts.push({ value: entry.value, at: Math.round(entry.startTime), moved: (entry.sources ?? []).map(({ node }) => name(node)) });
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return page;
}

/** How far the page has jumped. Any jump is one too many, so none is rounded away, and each says what moved. */
async function jumps(page, what) {
  const shifts = await page.evaluate(() => globalThis.shifts);
  for (const { value, at, moved } of shifts) say(`${what} jumped by ${value} at ${at} ms: ${moved.join(' | ')}`);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  note(`${what} jumps (CLS)`, sum, '', '0', sum === 0, 6);
}

/** Frames that Chromium drew while something ran in the page. */
async function traced(page, run) {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'disabled-by-default-devtools.timeline'] });
  await run();
  const trace = JSON.parse((await browser.stopTracing()).toString());
  return { ...frameNumbers(drawnFrames(trace.traceEvents)), mainMs: mainThreadMsPerFrame(trace.traceEvents) };
}

/** The best that this browser on this machine can do just now. */
async function blankPage(address) {
  const page = await newPage();
  await page.goto(`${address}/health`);
  const numbers = await traced(page, () => page.evaluate((ms) => new Promise((done) => {
    const canvas = document.body.appendChild(document.createElement('canvas'));
    const pen = canvas.getContext('2d');
    const end = performance.now() + ms;
    let x = 0;
    const step = (now) => {
      pen.clearRect(0, 0, 300, 150);
      pen.fillRect((x = (x + 3) % 280), 20, 20, 20);
      if (now < end) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  }), moveMs));
  await page.close();
  note('blank page, frames per second', numbers.medianFps, 'fps');
  note('blank page, frames missed', numbers.droppedPct, '%');
  note('blank page, main thread per frame', numbers.mainMs, 'ms');
  return numbers;
}

async function bigTask(address, blank) {
  const tasks = (await (await fetch(`${address}/api/v1/tasks?kind=primary`)).json()).items;
  const task = tasks.find(({ runtimeSessionId }) => runtimeSessionId === SESSION);
  const tree = (await (await fetch(`${address}/api/v1/tasks/${task.id}/tree`)).json()).items;
  note('events of the task', tree.reduce((sum, node) => sum + node.task.eventCount, 0), '');
  const draws = [];
  const paints = [];
  let page;
  for (let round = 0; round < 5; round += 1) {
    await page?.close();
    page = await newPage();
    await page.goto(`${address}/tasks/${task.id}`);
    await page.waitForFunction(() => performance.getEntriesByName('timeline drawn').length > 0, undefined, { timeout: 60_000 });
    const times = await page.evaluate(() => [performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, performance.getEntriesByName('timeline drawn')[0].startTime]);
    paints.push(times[0]);
    draws.push(times[1]);
  }
  const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  note('first paint', median(paints), 'ms', '< 1000', median(paints) < 1000);
  note('timeline drawn', median(draws), 'ms', '< 600', median(draws) < 600);
  for (const [what, kind] of [['zoom', 'zoom'], ['pan', 'pan']]) {
    const numbers = await traced(page, () => move(page, kind));
    const ratio = numbers.medianFps / blank.medianFps;
    note(`${what}, frames per second`, numbers.medianFps, 'fps', '>= 55', numbers.medianFps >= 55);
    note(`${what}, of what a blank page reaches`, ratio * 100, '%');
    note(`${what}, frames missed`, numbers.droppedPct, '%');
    note(`${what}, main thread per frame`, numbers.mainMs, 'ms', '< 16.7', numbers.mainMs < 16.7);
  }
  await jumps(page, 'task page');
  await page.close();
}

/** One wheel turn or one step of a drag in every frame, as the quickest hand would. */
function move(page, kind) {
  return page.evaluate(([how, ms]) => new Promise((done) => {
    const canvas = document.querySelector('.stage canvas');
    const box = canvas.getBoundingClientRect();
    const at = (x, y) => ({ clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true });
    const begin = performance.now();
    const step = (now) => {
      const part = (now - begin) / ms;
      if (how === 'zoom') canvas.dispatchEvent(new WheelEvent('wheel', { ...at(box.width * 0.6, 200), deltaY: part % 0.5 < 0.25 ? -24 : 24 }));
      else canvas.dispatchEvent(new WheelEvent('wheel', { ...at(box.width / 2, 200), deltaX: part % 0.5 < 0.25 ? 22 : -22, deltaY: 0 }));
      if (now - begin < ms) requestAnimationFrame(step);
      else done();
    };
    if (how === 'pan') for (let i = 0; i < 14; i += 1) canvas.dispatchEvent(new WheelEvent('wheel', { ...at(box.width / 2, 200), deltaY: -60 }));
    requestAnimationFrame(step);
  }), [kind, moveMs]);
}

async function busyLive(address, blank) {
  const token = readFileSync(join(env.AGENT_TRACER_HOME, 'token'), 'utf8').trim();
  const post = async (payload) => {
    const answer = await fetch(`${address}/hooks/claude`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify(payload) });
    if (!answer.ok) throw new Error(`hook: ${answer.status}`);
    await answer.arrayBuffer();
  };
  const agents = Array.from({ length: 50 }, (_, n) => ({ session_id: `bench-live-${n}`, cwd: `/home/dev/project${n % 5}`, prompt_id: 'p1' }));
  for (const [n, agent] of agents.entries()) await post({ ...agent, hook_event_name: 'UserPromptSubmit', prompt: `Work on part ${n}` });
  const page = await newPage();
  await page.goto(`${address}/`);
  await page.waitForFunction(() => document.querySelectorAll('.cards > *').length >= 40, undefined, { timeout: 60_000 });
  let sent = 0;
  const begin = Date.now();
  let busy = true;
  // Two hundred a second, evenly: a call begins, and ends with the next of its agent.
  const feed = (async () => {
    const open = new Map();
    while (busy) {
      const due = Math.floor(((Date.now() - begin) / 1000) * 200);
      const batch = [];
      for (; sent < due; sent += 1) {
        const agent = agents[sent % agents.length];
        const call = open.get(agent) ?? { tool_name: 'Bash', tool_input: { command: `cargo test -p part${sent}` }, tool_use_id: `toolu_live_${sent}` };
        batch.push(post({ ...agent, ...call, hook_event_name: open.has(agent) ? 'PostToolUse' : 'PreToolUse', ...(open.has(agent) ? { tool_response: {} } : {}) }));
        if (open.has(agent)) open.delete(agent);
        else open.set(agent, call);
      }
      await Promise.all(batch);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  // Frames come only when something is drawn: a square in the corner asks for one each time the screen could show it.
  const numbers = await traced(page, () => page.evaluate((ms) => new Promise((done) => {
    const mark = document.body.appendChild(document.createElement('canvas'));
    mark.style.cssText = 'position:fixed;right:0;bottom:0;width:8px;height:8px';
    const pen = mark.getContext('2d');
    const end = performance.now() + ms;
    let on = 0;
    const step = (now) => {
      pen.fillStyle = (on = 1 - on) ? '#111' : '#222';
      pen.fillRect(0, 0, 300, 150);
      if (now < end) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  }), moveMs * 2));
  busy = false;
  await feed;
  note('events sent a second', (sent / (Date.now() - begin)) * 1000, '/s');
  note('50 agents live, frames missed', numbers.droppedPct, '%', '<= 5', numbers.droppedPct <= 5);
  note('50 agents live, frames per second', numbers.medianFps, 'fps');
  note('50 agents live, main thread per frame', numbers.mainMs, 'ms', '< 16.7', numbers.mainMs < 16.7);
  await jumps(page, 'live page');
  await page.close();
}

/** What the browser has to fetch before the page works. */
function weight() {
  const assets = join(root, 'web/dist/assets');
  const size = readdirSync(assets).filter((name) => name.endsWith('.js.gz')).reduce((sum, name) => sum + statSync(join(assets, name)).size, 0);
  note('script, compressed', size / 1024, 'KB', '<= 250', size <= 250 * 1024);
}
