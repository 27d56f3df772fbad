/**
 * What a made-up agent does: rows of one task and of the subagents that it starts, as the real ledger would fold them.
 */
import type { Row, Task, UsageView } from '../src/api/types.ts';
import { Random } from './random.ts';

export interface Told {
  task: Task;
  rows: Row[];
}

export interface StoryOptions {
  id: string;
  seed: number;
  start: number;
  /** Nothing is told beyond this; what is open then still runs. */
  until: number;
  turns: number;
  stepsPerTurn: number;
  idleMs: number;
  agent?: string;
  project: string;
  title: string;
  depth?: number;
  parent?: { task: Task; toolUseId: string };
  agentType?: string;
  /** How likely a step starts subagents. */
  delegation?: number;
  endsWith?: 'completed' | 'failed' | 'waiting' | 'running' | 'abandoned' | 'permission' | 'question';
}

const FILES = [
  'src/store/append.rs', 'src/store/replay.rs', 'src/http/stream.rs', 'src/http/problem.rs', 'src/main.rs',
  'tests/it/main.rs', 'docs/ARCHITECTURE.md', 'Cargo.toml', 'web/src/App.svelte', 'web/src/timeline/draw.ts',
  'src/agents/claude/read.rs', 'src/agents/codex/rollout.rs', 'README.md', 'src/privacy/mask.rs',
];
const COMMANDS: [string, string, string, number, number][] = [
  ['cargo test -p ledger', 'run_test', 'execute_check', 21_000, 0.22],
  ['cargo clippy --all-targets -- -D warnings', 'run_lint', 'execute_check', 14_000, 0.12],
  ['git status --short', 'vcs', 'read_only', 60, 0.01],
  ['git diff --stat HEAD~1 | tail -5', 'vcs', 'read_only', 90, 0.01],
  ['npm run build', 'run_build', 'write', 9_000, 0.1],
  ['rg -n "fn append" crates | head', 'shell_probe', 'read_only', 45, 0.03],
  ['rm -rf target/tmp && mkdir -p target/tmp', 'run_command', 'destructive', 120, 0.02],
  ['curl -s http://127.0.0.1:4747/health', 'run_command', 'network', 80, 0.15],
  ['pytest -q tests/ || true', 'run_test', 'execute_check', 17_000, 0.05],
];
const PROMPTS = [
  'Make the append path survive kill -9 in the middle of a group commit, and prove it with a test',
  'The timeline jumps when a subagent starts. Find out why and fix it',
  'Read the rollout format of the new client and tell me what changed',
  'Add a retention setting by size. Old entries go first, totals must not change',
  'continue',
  'Run the whole suite again and fix what is red',
];
const ANSWERS = [
  'The fold no longer depends on arrival order; 212 tests pass, three of them new.',
  'Two rows carried the same natural key. The second is now merged, and a test holds it.',
  'Nothing else reads this file. I removed the branch and the flag that guarded it.',
];
const TYPES = ['Explore', 'general-purpose', 'code-reviewer', 'test-runner', 'Plan'];
const ERRORS = ['non_zero_exit', 'timeout', 'not_found', 'permission', 'invalid_input', 'hook_blocked'];

export const emptyUsage = (): UsageView => ({
  inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, costUsd: 0,
  provenance: { responses: 0, unpriced: 0, copies: 0 },
});

export function addUsage(into: UsageView, more: UsageView): void {
  into.inputTokens += more.inputTokens;
  into.outputTokens += more.outputTokens;
  into.cacheReadTokens += more.cacheReadTokens;
  into.cacheCreationTokens += more.cacheCreationTokens;
  into.costUsd += more.costUsd;
  into.provenance.responses += more.provenance.responses;
}

const iso = (t: number) => new Date(Math.round(t)).toISOString();
let sequence = 0;
/** The next place in the order of delivery. */
export const nextSeq = () => (sequence += 1);
export const lastSeq = () => sequence;

/** Tells the task and everything below it, parents first. */
export function tell(options: StoryOptions): Told[] {
  return new Story(options).run();
}

class Story {
  private readonly random: Random;
  private readonly rows: Row[] = [];
  private readonly children: Told[] = [];
  private readonly task: Task;
  private readonly o: StoryOptions;
  private readonly model: string;
  private t: number;
  private n = 0;
  private turn = 0;
  private contextTokens = 18_000;

  constructor(o: StoryOptions) {
    this.o = o;
    this.random = new Random(o.seed);
    this.t = o.start;
    const agent = o.agent ?? 'claude_code';
    this.model = agent === 'codex' ? 'gpt-5.2-codex' : this.random.pick(['claude-opus-4-8', 'claude-sonnet-5', 'claude-opus-4-8']);
    this.task = {
      id: o.id, title: o.title, kind: o.parent ? 'background' : 'primary', status: 'running', stale: false,
      parentTaskId: o.parent?.task.id, parentCertainty: o.parent ? 'measured' : undefined,
      parentToolUseId: o.parent?.toolUseId, agent, agentType: o.agentType ?? 'main',
      agentId: o.parent ? `a${this.random.hex(16)}` : undefined,
      runtimeSessionId: `${this.random.hex(8)}-${this.random.hex(4)}-4${this.random.hex(3)}-${this.random.hex(4)}-${this.random.hex(12)}`,
      workspacePath: o.project, model: this.model, startedAt: iso(o.start), lastEventAt: iso(o.start),
      eventCount: 0, toolCallCount: 0, failureCount: 0, turnCount: 0, childCount: 0,
      usage: emptyUsage(), treeUsage: emptyUsage(), treeToolCallCount: 0, treeFailureCount: 0, gitBranch: 'main', clientVersion: agent === 'codex' ? '0.142.1' : '2.1.325',
      machineId: 'm-1', project: o.project,
    };
  }

  run(): Told[] {
    if (!this.o.parent) this.event('session.started', 'planning', 'Session started', { trigger: 'startup' });
    for (let turn = 0; turn < this.o.turns && this.t < this.o.until; turn += 1) {
      if (turn > 0) this.t += this.random.skewed(this.o.idleMs);
      if (this.t >= this.o.until) break;
      this.oneTurn(turn);
    }
    this.end();
    return [{ task: this.task, rows: this.rows }, ...this.children];
  }

  private event(kind: string, lane: string, title: string, metadata: Row['metadata'] = {}, more: Partial<Row> = {}): Row {
    const row: Row = {
      id: `${this.o.id}-${(this.n += 1).toString(36)}`, seq: nextSeq(), taskId: this.o.id, sessionId: `${this.o.id}-s1`,
      turnId: this.turn > 0 ? `${this.o.id}-t${this.turn}` : undefined, kind, lane, title, occurredAt: iso(this.t),
      agentType: this.task.agentType, agentId: this.task.agentId, isSubagent: this.task.kind === 'background',
      runtimeSessionId: this.task.runtimeSessionId, filePaths: [], metadata, channels: ['hook'], certainty: 'measured', ...more,
    };
    if (this.t <= this.o.until) this.rows.push(row);
    this.task.eventCount = this.rows.length;
    return row;
  }

  private oneTurn(turn: number): void {
    this.turn += 1;
    this.task.turnCount = this.turn;
    const prompt = this.o.parent ? `${this.o.title}: look for every caller and report` : PROMPTS[turn % PROMPTS.length]!;
    this.event('user.message', this.o.parent ? 'coordination' : 'user', prompt, { promptOrigin: 'user' }, { body: prompt, hookEventName: 'UserPromptSubmit' });
    if (turn === 0) this.event('instructions.loaded', 'planning', 'CLAUDE.md', { memoryType: 'project' }, { filePaths: [`${this.o.project}/CLAUDE.md`] });
    const steps = Math.max(1, Math.round(this.random.skewed(this.o.stepsPerTurn)));
    for (let step = 0; step < steps && this.t < this.o.until; step += 1) this.oneStep(step);
    if (this.t >= this.o.until) return;
    this.t += this.random.skewed(5000);
    const answer = this.random.pick(ANSWERS);
    this.event('assistant.response', 'assistant', answer, { stopReason: 'end_turn' }, { body: answer, hookEventName: 'Stop' });
  }

  private oneStep(step: number): void {
    this.t += this.random.skewed(3800);
    this.respond();
    const spawn = !this.o.parent || (this.o.depth ?? 0) < 2;
    if (spawn && this.random.chance(this.o.delegation ?? 0)) return this.delegate();
    if (step % 9 === 3) this.todo(step);
    const batch = this.random.chance(0.45) ? this.random.int(2, 6) : 1;
    const batchId = batch > 1 ? `b${this.n}` : undefined;
    const started = this.t;
    let end = started;
    for (let i = 0; i < batch; i += 1) {
      this.t = started + i * 35;
      end = Math.max(end, this.call(batchId));
    }
    this.t = end;
    if (batchId) this.event('context.saved', 'planning', `Batch of ${batch} calls completed`, { trigger: 'tool_batch_completed', itemCount: batch });
  }

  private respond(): void {
    const r = this.random;
    this.contextTokens += r.int(800, 5200);
    if (this.contextTokens > 176_000) {
      this.event('context.saved', 'planning', 'Context compacted', { trigger: 'auto', compactPhase: 'after', compactSummaryBytes: 8120 });
      this.contextTokens = 31_000;
    }
    const output = r.int(80, 1400);
    const usage: UsageView = {
      inputTokens: r.int(3, 400), outputTokens: output, cacheReadTokens: this.contextTokens, cacheCreationTokens: r.int(500, 4000),
      costUsd: output * 0.000025 + this.contextTokens * 0.0000005, provenance: { responses: 1, unpriced: 0, copies: 0 },
    };
    addUsage(this.task.usage, usage);
    this.event('token.usage', 'telemetry', `${output} output tokens`, { ...usage, modelId: this.model }, { channels: ['transcript'], certainty: 'reported' });
    if (this.n % 3 === 0) {
      const pct = (this.contextTokens / 200_000) * 100;
      this.task.contextUsedPct = Math.round(pct * 10) / 10;
      this.event('context.snapshot', 'telemetry', `Context ${Math.round(pct)} %`, {
        contextWindowUsedPct: pct, contextWindowTotalTokens: this.contextTokens, contextWindowSize: 200_000, modelId: this.model,
        costTotalUsd: this.task.usage.costUsd, rateLimitFiveHourUsedPct: 41 + (this.n % 17), rateLimitSevenDayUsedPct: 23 + (this.n % 5),
        rateLimitFiveHourResetsAt: iso(this.o.until + 5_400_000), rateLimitSevenDayResetsAt: iso(this.o.until + 3 * 86_400_000),
      });
    }
  }

  /** One tool call; returns when it ends. */
  private call(batchId: string | undefined): number {
    const r = this.random;
    const choice = r.next();
    const base = { batchId, toolUseId: `toolu_${r.hex(20)}` };
    if (choice < 0.3) {
      const file = r.pick(FILES);
      const offset = r.chance(0.4) ? r.int(1, 40) * 10 : undefined;
      return this.tool('Read', 'exploration', `Read ${file}`, r.skewed(14), 0.02, { ...base, subtypeKey: 'read_file', readOffset: offset, readLimit: offset ? 120 : undefined }, [file]);
    }
    if (choice < 0.42) {
      const pattern = r.pick(['fn append', 'TODO', 'impl .* for Ledger', 'occurredAt', 'unwrap\\(\\)']);
      return this.tool('Grep', 'exploration', `Search “${pattern}”`, r.skewed(70), 0.01, { ...base, subtypeKey: 'grep_code', searchPattern: pattern, searchScope: 'crates/', grepOutputMode: r.pick(['content', 'files_with_matches']) });
    }
    if (choice < 0.47) return this.tool('Glob', 'exploration', 'List **/*.rs', r.skewed(40), 0.01, { ...base, subtypeKey: 'glob_files', searchPattern: '**/*.rs' });
    if (choice < 0.64) {
      const file = r.pick(FILES);
      return this.tool(r.chance(0.8) ? 'Edit' : 'Write', 'implementation', `Change ${file}`, r.skewed(38), 0.05, { ...base, subtypeKey: 'modify_file' }, [file]);
    }
    if (choice < 0.9) {
      const [command, key, effect, typical, failing] = r.pick(COMMANDS);
      if (r.chance(0.08)) this.permission('Bash', command, base.toolUseId);
      return this.tool('Bash', key === 'run_test' || key === 'run_build' ? 'implementation' : 'exploration', command, r.skewed(typical), failing,
        { ...base, subtypeKey: key, toolInput: { command }, commandAnalysis: { raw: command, overallEffect: effect, failureMasked: command.endsWith('|| true') } }, [], 'terminal.command');
    }
    if (choice < 0.93) return this.tool('WebSearch', 'exploration', 'Search the web: sqlite wal checkpoint stall', r.skewed(1900), 0.04, { ...base, subtypeKey: 'web_search', webQuery: 'sqlite wal checkpoint stall' });
    if (choice < 0.95) return this.tool('WebFetch', 'exploration', 'Fetch www.sqlite.org/wal.html', r.skewed(2600), 0.1, { ...base, subtypeKey: 'web_fetch', webUrls: ['https://www.sqlite.org/wal.html'], webPrompt: 'When does a checkpoint block writers?' });
    return this.tool('mcp__tracker__get_issue', 'coordination', 'tracker: get_issue', r.skewed(640), 0.08, { ...base, subtypeKey: 'mcp_call', mcpServer: 'tracker', mcpTool: 'get_issue' }, [], 'agent.activity.logged');
  }

  private tool(name: string, lane: string, title: string, ms: number, failing: number, metadata: Row['metadata'], files: string[] = [], kind = 'tool.used'): number {
    const r = this.random;
    const fails = r.chance(failing);
    const end = this.t + ms;
    const open = end > this.o.until;
    const state = open ? 'running' : fails ? (r.chance(0.1) ? 'denied' : 'failed') : 'succeeded';
    const shell = kind === 'terminal.command';
    const row = this.event(kind, lane, title, {
      ...metadata, toolInput: metadata['toolInput'] ?? { file_path: files[0] }, durationMs: open ? undefined : Math.round(ms), durationSource: 'agent',
      exitCode: shell && !open ? (fails ? r.int(1, 101) : 0) : undefined, errorClass: state === 'failed' ? (shell ? r.pick(['non_zero_exit', 'non_zero_exit', 'timeout']) : r.pick(ERRORS)) : state === 'denied' ? 'permission' : undefined,
      outputBytes: r.int(20, 40_000), importance: fails ? 'critical' : 'normal', permissionMode: 'default', cwd: this.o.project,
    }, {
      endedAt: open ? undefined : iso(end), state, toolName: name, toolUseId: String(metadata['toolUseId']), hookEventName: 'PreToolUse',
      filePaths: files.map((file) => `${this.o.project}/${file}`), channels: r.chance(0.7) ? ['hook', 'transcript'] : ['hook'],
      certainty: r.chance(0.9) ? 'measured' : r.chance(0.6) ? 'inferred' : 'guessed',
    });
    if (this.t <= this.o.until) {
      this.task.toolCallCount += 1;
      if (state === 'failed' || state === 'denied') this.task.failureCount += 1;
      if (state === 'running') this.task.current = row.title;
    }
    return end;
  }

  private permission(tool: string, command: string, toolUseId: string): void {
    const wait = this.random.skewed(22_000);
    this.event('permission.request', 'coordination', `May I run ${command}?`, {
      toolUseId, toolInputSummary: command, suggestionCount: 2, decision: this.t + wait > this.o.until ? undefined : this.random.chance(0.9) ? 'allowed' : 'denied', waitMs: Math.round(wait),
    }, { toolName: tool, endedAt: this.t + wait > this.o.until ? undefined : iso(this.t + wait), hookEventName: 'PermissionRequest' });
    this.t += wait;
  }

  private todo(step: number): void {
    const subjects = ['Write the failing test', 'Fix the fold', 'Run the suite', 'Update the ADR'];
    this.event('todo.logged', 'todos', subjects[step % 4]!, {
      todoId: `todo-${step % 4}`, subject: subjects[step % 4], todoState: this.random.pick(['added', 'in_progress', 'completed']),
    }, { toolName: 'TodoWrite' });
  }

  private delegate(): void {
    const r = this.random;
    const number = r.int(1, (this.o.depth ?? 0) === 0 ? 4 : 2);
    const started = this.t;
    let end = started;
    const batchId = number > 1 ? `b${this.n}` : undefined;
    for (let i = 0; i < number; i += 1) {
      this.t = started + i * 60;
      const type = r.pick(TYPES);
      const toolUseId = `toolu_${r.hex(20)}`;
      const id = `${this.o.id}.${this.task.childCount + 1}`;
      this.task.childCount += 1;
      const told = tell({
        id, seed: r.int(1, 1e9), start: this.t + 420, until: this.o.until, turns: 1, stepsPerTurn: r.between(4, 13), idleMs: 0,
        agent: this.task.agent, project: this.o.project, title: r.pick(['Find all callers of append', 'Review the fold for order', 'Run the slow tests', 'Map the HTTP handlers']),
        depth: (this.o.depth ?? 0) + 1, parent: { task: this.task, toolUseId }, agentType: type, delegation: (this.o.delegation ?? 0) * 0.35, endsWith: 'completed',
      });
      this.children.push(...told);
      const child = told[0]!;
      const childEnd = child.task.endedAt ? Date.parse(child.task.endedAt) : Number.POSITIVE_INFINITY;
      const open = childEnd > this.o.until;
      this.event('agent.activity.logged', 'coordination', `${type}: ${child.task.title}`, {
        batchId, subtypeKey: 'delegation', activityType: 'delegation', agentName: type, childAgentId: child.task.agentId, durationMs: open ? undefined : Math.round(childEnd - this.t), durationSource: 'agent',
        toolInput: { description: child.task.title, subagent_type: type },
      }, { toolName: 'Agent', toolUseId, state: open ? 'running' : 'succeeded', endedAt: open ? undefined : iso(childEnd), hookEventName: 'PreToolUse' });
      if (this.t <= this.o.until) this.task.toolCallCount += 1;
      end = Math.max(end, childEnd);
    }
    this.t = end;
  }

  private end(): void {
    const o = this.o;
    const task = this.task;
    const open = this.t >= o.until;
    const want = open ? 'running' : (o.endsWith ?? 'completed');
    if (!open) this.t += 900;
    task.lastEventAt = iso(Math.min(this.t, o.until));
    if (want === 'permission') {
      this.event('permission.request', 'coordination', 'May I run git push --force origin main?', { toolInputSummary: 'git push --force origin main', suggestionCount: 1 }, { toolName: 'Bash', hookEventName: 'PermissionRequest' });
      Object.assign(task, { status: 'waiting', waitingReason: 'permission', waitingSince: iso(this.t), current: 'May I run git push --force origin main?' });
    } else if (want === 'question') {
      this.event('question.logged', 'questions', 'Which store should the demo use?', { questionPhase: 'asked', questions: [{ question: 'Which store should the demo use?', options: ['SQLite', 'ClickHouse'] }] }, { toolName: 'AskUserQuestion', state: 'running' });
      Object.assign(task, { status: 'waiting', waitingReason: 'question', waitingSince: iso(this.t), current: 'Which store should the demo use?' });
    } else if (want === 'waiting') {
      Object.assign(task, { status: 'waiting', waitingReason: 'idle', waitingSince: iso(this.t) });
    } else if (want !== 'running') {
      if (!o.parent && want === 'completed') this.event('session.ended', 'planning', 'Session ended', { completionReason: 'explicit_exit' });
      Object.assign(task, { status: want, endedAt: want === 'abandoned' ? undefined : iso(this.t), stale: want === 'abandoned' });
    } else {
      task.current ??= this.rows.at(-1)?.title;
    }
    addUsage(task.treeUsage, task.usage);
    for (const child of this.children) addUsage(task.treeUsage, child.task.usage);
    for (const one of [task, ...this.children.map((child) => child.task)]) {
      task.treeToolCallCount += one.toolCallCount;
      task.treeFailureCount += one.failureCount;
    }
    task.usage.clientCostUsd = task.usage.costUsd * 0.98;
  }
}
