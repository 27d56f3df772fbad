/**
 * The made-up machine: tasks of several weeks, one tree that runs, one task of a hundred thousand rows, one that holds
 * every string that has ever broken a page. Everything is told from a seed and the moment at which the server started.
 */
import type { Row, Task } from '../src/api/types.ts';
import { Random } from './random.ts';
import { addUsage, emptyUsage, nextSeq, tell, type Told } from './story.ts';

export const HUGE = 'task-huge';
export const HERO = 'task-hero';
export const HOSTILE = 'task-hostile';

const PROJECTS = ['/home/dev/agent-tracer', '/home/dev/webshop', '/home/dev/infra', '/home/dev/papers', '/home/dev/compiler'];
const TITLES = [
  'Make appends crash safe', 'Fix the flaky checkout test', 'Bump the base image', 'Read the new rollout format', 'Write the ADR for retention',
  'Move the parser to a real grammar', 'Why is the build slow?', 'Add dark mode', 'Upgrade axum', 'Explain the fold to a new colleague',
];

export class World {
  readonly now: number;
  readonly tasks: Task[] = [];
  private readonly told = new Map<string, Told>();
  private readonly makers = new Map<string, () => Told[]>();

  constructor(now: number, kind: 'full' | 'empty', size = 2000) {
    this.now = now;
    if (kind === 'empty') return;
    const minute = 60_000;
    this.add(tell({ id: HERO, seed: 42, start: now - 96 * minute, until: now, turns: 9, stepsPerTurn: 15, idleMs: 7 * minute, project: PROJECTS[0]!, title: 'Make appends crash safe under a full disk', delegation: 0.12 }));
    const more: [string, string, number, 'permission' | 'question' | 'waiting' | 'running', string][] = [
      ['task-perm', 'Release 0.4 to the registry', 31, 'permission', 'claude_code'],
      ['task-ask', 'Set up the demo home', 12, 'question', 'claude_code'],
      ['task-codex', 'Port the rollout reader', 25, 'running', 'codex'],
      ['task-run2', 'Speed up the search follower', 44, 'running', 'claude_code'],
      ['task-run3', 'Translate the error texts', 9, 'running', 'codex'],
      ['task-idle', 'Fix the flaky checkout test', 140, 'waiting', 'claude_code'],
    ];
    for (const [i, [id, title, minutes, endsWith, agent]] of more.entries()) {
      const running = endsWith === 'running';
      this.add(tell({ id, seed: 100 + i, start: now - minutes * minute, until: running ? now : now - 2 * minute * (i + 1), turns: running ? 40 : 2, stepsPerTurn: running ? 30 : 6, idleMs: 20_000, agent, project: PROJECTS[i % 5]!, title, delegation: 0.06, endsWith }));
    }
    this.addHostile();
    this.addHuge();
    const random = new Random(5);
    for (let i = 0; i < size; i += 1) this.addPast(random, i);
    this.tasks.sort((a, b) => Date.parse(b.lastEventAt) - Date.parse(a.lastEventAt));
  }

  /** The task and its rows; tasks of the past are told when somebody asks. */
  open(id: string): Told | undefined {
    const maker = this.makers.get(id);
    if (maker) {
      this.makers.delete(id);
      for (const told of maker()) this.told.set(told.task.id, told);
    }
    return this.told.get(id);
  }

  /** A task and everything below it, parents before children. */
  tree(id: string): { depth: number; told: Told }[] {
    const root = this.open(id);
    if (!root) return [];
    const out: { depth: number; told: Told }[] = [];
    const visit = (told: Told, depth: number) => {
      out.push({ depth, told });
      for (const other of this.told.values()) if (other.task.parentTaskId === told.task.id) visit(other, depth + 1);
    };
    visit(root, 0);
    return out;
  }

  *openRows(): Iterable<Row> {
    for (const { rows } of this.told.values()) yield* rows;
  }

  rowById(id: string): Row | undefined {
    const told = this.open(id.slice(0, id.lastIndexOf('-')));
    return told?.rows.find((row) => row.id === id);
  }

  private add(told: Told[]): void {
    for (const one of told) {
      this.told.set(one.task.id, one);
      this.tasks.push(one.task);
    }
  }

  private addPast(random: Random, i: number): void {
    const start = this.now - (i + 1) * random.between(2, 20) * 60_000 - 2 * 3_600_000;
    const id = `task-${i}`;
    const status = random.pick(['completed', 'completed', 'completed', 'failed', 'abandoned'] as const);
    const story = {
      id, seed: 1000 + i, start, until: this.now - 60_000, turns: random.int(1, 6), stepsPerTurn: random.between(2, 14), idleMs: random.skewed(9 * 60_000),
      agent: random.chance(0.3) ? 'codex' : 'claude_code', project: random.pick(PROJECTS), title: `${random.pick(TITLES)}${random.chance(0.5) ? ` (${random.int(2, 40)})` : ''}`, delegation: random.chance(0.3) ? 0.1 : 0, endsWith: status,
    };
    const calls = Math.round(random.skewed(40));
    const usage = emptyUsage();
    Object.assign(usage, { inputTokens: calls * 90, outputTokens: calls * 520, cacheReadTokens: calls * 61_000, cacheCreationTokens: calls * 1900, costUsd: calls * 0.043 });
    const end = start + random.skewed(18 * 60_000);
    this.tasks.push({
      id, title: story.title, kind: 'primary', status, stale: status === 'abandoned', agent: story.agent, agentType: 'main', runtimeSessionId: `${random.hex(8)}-session`,
      workspacePath: story.project, model: story.agent === 'codex' ? 'gpt-5.2-codex' : random.pick(['claude-opus-4-8', 'claude-sonnet-5']), startedAt: new Date(start).toISOString(), lastEventAt: new Date(end).toISOString(),
      endedAt: status === 'abandoned' ? undefined : new Date(end).toISOString(), eventCount: calls * 3, toolCallCount: calls, failureCount: random.chance(0.4) ? random.int(1, 5) : 0, turnCount: story.turns, childCount: story.delegation ? random.int(0, 4) : 0,
      usage, treeUsage: usage, treeToolCallCount: calls, treeFailureCount: 0, machineId: 'm-1', project: story.project, gitBranch: 'main', contextUsedPct: random.between(5, 80),
    });
    this.makers.set(id, () => tell(story));
  }

  private addHuge(): void {
    const start = this.now - 9 * 3_600_000;
    const told = tell({ id: HUGE, seed: 9, start, until: this.now - 3_600_000, turns: 14, stepsPerTurn: 40, idleMs: 4 * 60_000, project: PROJECTS[4]!, title: 'Rewrite the type checker (100,000 events)', delegation: 0.02, endsWith: 'completed' });
    const { task, rows } = told[0]!;
    const random = new Random(77);
    const span = this.now - 3_600_000 - start;
    const kinds: [string, string, number][] = [['Read', 'exploration', 12], ['Grep', 'exploration', 60], ['Edit', 'implementation', 30], ['Bash', 'implementation', 900]];
    for (let i = 0; rows.length < 100_000; i += 1) {
      // Work comes in waves: three quarters of the time are busy.
      const wave = Math.floor(random.next() * 40);
      if (wave % 4 === 3) continue;
      const t = start + ((wave + random.next()) / 40) * span;
      const [tool, lane, typical] = random.pick(kinds);
      const failed = random.chance(0.02);
      const ms = random.skewed(typical);
      rows.push({
        id: `${HUGE}-x${i.toString(36)}`, seq: nextSeq(), taskId: HUGE, sessionId: `${HUGE}-s1`, turnId: `${HUGE}-t1`, kind: tool === 'Bash' ? 'terminal.command' : 'tool.used', lane, title: `${tool} ${i}`,
        occurredAt: new Date(t).toISOString(), endedAt: new Date(t + ms).toISOString(), state: failed ? 'failed' : 'succeeded', toolName: tool, toolUseId: `toolu_x${i}`, agentType: 'main', isSubagent: false, runtimeSessionId: task.runtimeSessionId,
        filePaths: [], metadata: { durationMs: Math.round(ms), errorClass: failed ? 'unknown' : undefined }, channels: ['hook'], certainty: 'measured',
      });
    }
    rows.sort((a, b) => (a.occurredAt < b.occurredAt ? -1 : 1));
    Object.assign(task, { eventCount: rows.length, toolCallCount: rows.length - 2000, failureCount: 1994, treeToolCallCount: rows.length - 2000, treeFailureCount: 1994 });
    this.add(told);
  }

  private addHostile(): void {
    const told = tell({ id: HOSTILE, seed: 3, start: this.now - 30 * 60_000, until: this.now - 10 * 60_000, turns: 2, stepsPerTurn: 8, idleMs: 60_000, project: '/home/dev/<script>alert(1)</script>', title: '<img src=x onerror=alert(1)> \u001b[31mred\u001b[0m \u202egnp.exe', endsWith: 'failed' });
    const nasty = ['<b onclick=alert(1)>bold</b>', '\u001b[2J\u001b[H cleared', 'שלום עולם mixed مرحبا text', `long ${'x'.repeat(1_000_000)}`, 'tab\tnew\nline\r\n\u0000nul', '\u202ertl override', '{{constructor}} ${7*7} %s', '👩‍👩‍👧‍👦'.repeat(20)];
    for (const [i, row] of told[0]!.rows.entries()) if (i % 2) Object.assign(row, { title: nasty[i % nasty.length]!.slice(0, 4000), body: nasty[i % nasty.length] });
    this.add(told);
  }

  /** Sums for tasks that are only in the list. */
  totalUsage() {
    const sum = emptyUsage();
    for (const task of this.tasks) addUsage(sum, task.usage);
    return sum;
  }
}
