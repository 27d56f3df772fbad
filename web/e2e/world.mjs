/** The real program with captured sessions in a home of its own, and a real browser that looks at it. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { front } from '../scripts/front.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tracer = process.env['AGENT_TRACER'] ?? join(root, 'dist/agent-tracer');
/** A built dashboard to look at instead of the one inside the program. */
const dist = process.env['AGENT_TRACER_DIST'];
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export class World {
  static async start({ history = true } = {}) {
    const world = new World();
    world.home = mkdtempSync(join(tmpdir(), 'agent-tracer-e2e-'));
    world.env = {
      ...process.env,
      AGENT_TRACER_HOME: join(world.home, 'tracer'),
      CLAUDE_CONFIG_DIR: join(world.home, 'claude'),
      CODEX_HOME: join(world.home, 'codex'),
    };
    if (history) world.#copyHistory();
    if (history) {
      const done = spawnSync(tracer, ['import', '--json'], { env: world.env, encoding: 'utf8' });
      if (done.status !== 0) throw new Error(`import failed: ${done.stderr}`);
    }
    await world.#serve('127.0.0.1:0');
    await world.#stand();
    world.browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
    return world;
  }

  /**
   * The demo in its own home, played once and quickly or on and on; `link` signs a browser in, `checkout` and `release`
   * are two of its tasks.
   */
  static async demo({ speed = 25, days = 2, once = true } = {}) {
    const world = new World();
    world.server = spawn(tracer, [
      'demo',
      ...(once ? ['--once'] : []),
      '--speed',
      String(speed),
      '--days',
      String(days),
    ]);
    let said = '';
    await new Promise((resolve, reject) => {
      world.server.stderr.on('data', (chunk) => {
        said += chunk;
        if (once ? /once: \d+ sessions/.test(said) : said.includes('stop ')) resolve();
      });
      world.server.once('exit', (code) => reject(new Error(`demo ended with ${code}: ${said}`)));
    });
    world.server.removeAllListeners('exit');
    world.link = /http:\S+login\S+/.exec(said)[0];
    world.behind = new URL(world.link).origin;
    await world.#stand();
    world.link = world.link.replace(world.behind, world.address);
    world.data = /data +(\S+),/.exec(said)[1];
    // Those of the past days are known from files alone, which hold no end: the one that has an end is today's.
    const find = (words) =>
      world.until('/api/v1/tasks?kind=primary', (tasks) =>
        tasks.find((task) => task.title.startsWith(words) && task.endedAt),
      );
    if (once) {
      world.checkout = await find('Checkout');
      world.release = await find('Prepare release');
      await world.until(`/api/v1/tasks/${world.checkout.id}/tree`, (nodes) => nodes.length === 5);
    }
    world.browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
    return world;
  }

  /** Asks until the answer is as it should be: what was written is read by a server that runs beside us. */
  async until(path, isSo, limitMs = 60_000) {
    const end = Date.now() + limitMs;
    for (;;) {
      const answer = await this.get(path);
      const found = isSo(answer.items ?? answer);
      if (found) return found;
      if (Date.now() > end) throw new Error(`${path} never became so: ${JSON.stringify(answer).slice(0, 2000)}`);
    }
  }

  /** Transcripts of every captured session, where the client would have put them. */
  #copyHistory() {
    const captured = join(root, 'fixtures/claude-code/2.1.325');
    const project = join(this.env.CLAUDE_CONFIG_DIR, 'projects/-home-dev-project');
    mkdirSync(project, { recursive: true });
    for (const scenario of readdirSync(captured)) {
      for (const name of readdirSync(join(captured, scenario))) {
        if (name === 'hooks.jsonl' || name === 'truth.json') continue;
        cpSync(join(captured, scenario, name), join(project, name), { recursive: true });
      }
    }
  }

  async #serve(listen) {
    this.server = spawn(tracer, ['serve', '--listen', listen], { env: this.env });
    let said = '';
    this.behind = await new Promise((resolve, reject) => {
      const read = (chunk) => {
        said += chunk;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
        if (found) resolve(found[0]);
      };
      this.server.stdout.on('data', read);
      this.server.stderr.on('data', read);
      this.server.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${said}`)));
    });
    this.server.removeAllListeners('exit');
  }

  /** Where the browser looks: at the server, or at what stands in front of it. */
  async #stand() {
    this.front = dist ? await front(dist, this.behind) : undefined;
    this.address = this.front?.address ?? this.behind;
  }

  async stopServer() {
    const gone = new Promise((resolve) => this.server.once('exit', resolve));
    this.server.kill('SIGTERM');
    await gone;
  }

  /** Starts it again at the same address. */
  async startServer() {
    await this.#serve(new URL(this.behind).host);
  }

  /** A page that fails the test if anything goes wrong in it, or if it requests another host. */
  async page(path, { colorScheme = 'dark', viewport = { width: 1280, height: 800 } } = {}) {
    const page = await this.browser.newPage({ colorScheme, viewport });
    page.wrongs = [];
    page.on('pageerror', (error) => page.wrongs.push(`error: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && page.wrongs.push(`console: ${message.text()}`));
    page.on(
      'request',
      (request) => request.url().startsWith(this.address) || page.wrongs.push(`asked ${request.url()}`),
    );
    await page.goto(this.address + path);
    return page;
  }

  get token() {
    return readFileSync(join(this.env.AGENT_TRACER_HOME, 'token'), 'utf8').trim();
  }

  async get(path) {
    const answer = await fetch(this.address + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Brings one hook payload as the agent's http hook would. */
  async hook(payload) {
    const answer = await fetch(`${this.address}/hooks/claude`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    });
    if (!answer.ok) throw new Error(`hook: ${answer.status} ${await answer.text()}`);
  }

  async stop() {
    await this.browser?.close();
    await this.front?.stop();
    if (this.server?.exitCode === null) await this.stopServer();
    if (this.home) rmSync(this.home, { recursive: true, force: true });
  }
}
