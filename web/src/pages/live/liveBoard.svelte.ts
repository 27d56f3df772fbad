/**
 * The data of the Live page: the answers of the server, and the rows of the stream on top of them until the next
 * answer.
 */
import { api } from '../../api/client';
import type { ActivityBucket, Attention, Hit, Limit, Page, Row, Task, UsageBlock, UsageBucket } from '../../api/types';
import { Resource } from '../../app/resource.svelte';
import type { Listener } from '../../app/stream';
import { taskKey } from '../../text/format';
import { throttle } from '../../ui/throttle';
import { dayName, midnight } from '../insights/range';
import { activityOf, groupTasks, isIdle, isSilent, sharesOf, updatesLimits, type TaskActivity } from './cards';
import { fillSlots, type Slots } from './slots';
import { spendOf } from './spend';

/** The person and the machine that the page is filtered by. */
export interface OwnerScope {
  owner?: string;
  machine?: string;
}

export interface Failure {
  row: Row;
  taskTitle: string;
}

const FAILURES_AT_MOST = 8;
const REQUEST_KINDS = new Set(['permission.request', 'question.logged', 'plan.logged']);
// Twelve times a second is at once for a reader, and leaves four of five frames to other movement.
const ACTIVITY_MS = 80;
const ATTENTION_MS = 300;
const TASKS_MS = 900;
const TOTALS_MS = 5000;
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The days that `7 days` adds up, today with them. */
const DAYS = 7;
const SHARES_AT_MOST = 500;
/** When an ended session ended, or an idle one began to wait. */
export const doneAt = (task: Task): string => task.endedAt ?? task.waitingSince ?? task.lastEventAt;
const byLastEvent = (a: { task: Task }, b: { task: Task }) => b.task.lastEventAt.localeCompare(a.task.lastEventAt);

export class LiveBoard {
  readonly tasks = new Resource<Page<Task>>();
  readonly attention = new Resource<Page<Attention>>();
  readonly activity = new Resource<Page<ActivityBucket>>();
  readonly failed = new Resource<Page<Hit>>();
  readonly limits = new Resource<Page<Limit>>();
  readonly blocks = new Resource<Page<UsageBlock>>();
  readonly finished = new Resource<Page<Task>>();
  readonly days = new Resource<Page<UsageBucket>>();
  readonly sessions = new Resource<Page<UsageBucket>>();
  failures = $state.raw<readonly Failure[]>([]);
  /** The newest call of each task. */
  activities = $state.raw<ReadonlyMap<string, TaskActivity>>(new Map());

  /** The slot of each running card. */
  private slots = $state.raw<Slots>([]);
  readonly items = $derived(this.tasks.data?.items ?? []);
  readonly cards = $derived(groupTasks(this.items));
  readonly busy = $derived(this.cards.filter((card) => !isIdle(card.task) && !isSilent(card)));
  /** The running cards where they stand; a free slot is undefined. */
  readonly places = $derived.by(() => {
    const cards = new Map(this.busy.map((card) => [taskKey(card.task), card]));
    return fillSlots(this.slots, [...cards.keys()]).map((key) => (key === undefined ? undefined : cards.get(key)));
  });
  readonly silent = $derived(this.cards.filter(isSilent).sort(byLastEvent));
  readonly idle = $derived(this.cards.filter((card) => isIdle(card.task)).sort(byLastEvent));
  readonly requests = $derived((this.attention.data?.items ?? []).filter((item) => item.reason !== 'idle'));
  readonly runningCount = $derived(this.items.filter((task) => task.status === 'running' && !task.stale).length);
  /** Ended sessions and those that wait for the next prompt, newest first. */
  readonly done = $derived(
    [...this.idle.map(({ task }) => task), ...(this.finished.data?.items ?? [])].sort((a, b) =>
      doneAt(b).localeCompare(doneAt(a)),
    ),
  );
  readonly spend = $derived(this.days.data && spendOf(this.days.data.items, dayName(Date.now())));
  readonly openBlock = $derived(this.blocks.data?.items.find(({ isActive }) => isActive));
  /** The sessions of the open window with their part of its cost. */
  readonly shares = $derived(this.openBlock ? sharesOf(this.sessions.data?.items ?? []) : []);
  /** Whether the lists are there: nothing is shown below a list that has yet to come, because it would move. */
  readonly isSettled = $derived(this.attention.settled && this.tasks.settled && this.finished.settled);

  private scope: OwnerScope = {};
  private streamed = new Map<string, TaskActivity>();
  private running: readonly string[] = [];
  private readonly publish = throttle(ACTIVITY_MS, () => (this.activities = new Map(this.streamed)));
  private readonly refreshAttention = throttle(ATTENTION_MS, () => void this.loadAttention());
  private readonly refreshTasks = throttle(TASKS_MS, () => void this.loadTasks());
  private readonly refreshTotals = throttle(TOTALS_MS, () => {
    void this.loadFinished();
    void this.loadLimits();
  });

  /** Loads everything for a person and a machine. */
  show(scope: OwnerScope): void {
    this.scope = scope;
    this.failures = [];
    this.slots = [];
    this.loadAll();
  }

  loadAll(): void {
    void this.loadTasks();
    void this.loadFinished();
    void this.loadAttention();
    void this.loadActivity();
    void this.loadLimits();
    void this.loadFailures();
  }

  /** Loads what no row of the stream announces. */
  refreshSlow(): void {
    void this.loadActivity();
    this.refreshTotals();
  }

  async loadLimits(): Promise<void> {
    const { scope } = this;
    await Promise.all([
      this.limits.load((signal) => api.limits(scope, signal), this.key('limits')),
      this.blocks.load((signal) => api.blocks({ ...scope, limit: 1 }, signal), this.key('blocks')),
      this.days.load(
        (signal) =>
          api.usage({ ...scope, by: 'day', tz: TIME_ZONE, since: midnight(dayName(Date.now()), 1 - DAYS) }, signal),
        this.key('days'),
      ),
    ]);
    const block = this.openBlock;
    if (block)
      await this.sessions.load(
        (signal) => api.usage({ ...scope, by: 'task', since: block.startedAt, limit: SHARES_AT_MOST }, signal),
        this.key(`sessions ${block.startedAt}`),
      );
  }

  /** How the board listens to the stream. */
  readonly listener: Listener = {
    rows: (rows) => this.take(rows),
    removed: (ids) => {
      this.failures = this.failures.filter(({ row }) => !ids.has(row.id));
      this.refreshTasks();
    },
    opened: () => {
      this.refreshTasks();
      this.refreshAttention();
    },
    reload: () => {
      this.streamed = new Map();
      this.activities = this.streamed;
      this.loadAll();
    },
  };

  close(): void {
    for (const one of [this.refreshTasks, this.refreshTotals, this.refreshAttention, this.publish]) one.cancel();
    for (const one of [
      this.tasks,
      this.attention,
      this.activity,
      this.limits,
      this.blocks,
      this.finished,
      this.failed,
      this.days,
      this.sessions,
    ])
      one.cancel();
  }

  private take(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = taskKey({ id: row.taskId, owner: row.owner });
      const activity = activityOf(this.streamed.get(key), row);
      if (activity) this.streamed.set(key, activity);
      if (updatesLimits(row) || row.kind === 'session.ended') this.refreshTotals();
      if ((row.state === 'failed' || row.state === 'denied') && this.isInScope(row)) this.addFailure(row);
    }
    this.publish();
    this.refreshTasks();
    if (this.requests.length > 0 || rows.some((row) => REQUEST_KINDS.has(row.kind))) this.refreshAttention();
  }

  private titleOf(row: Row): string | undefined {
    const key = taskKey({ id: row.taskId, owner: row.owner });
    return this.items.find((task) => taskKey(task) === key)?.title;
  }

  /** A row does not name its machine, so under a filter only rows of listed tasks count. */
  private isInScope(row: Row): boolean {
    const { owner, machine } = this.scope;
    if (!owner && !machine) return true;
    return this.titleOf(row) !== undefined && (!owner || row.owner === owner);
  }

  private addFailure(row: Row): void {
    const others = this.failures.filter((one) => taskKey(one.row) !== taskKey(row));
    this.failures = [{ row, taskTitle: this.titleOf(row) ?? '' }, ...others].slice(0, FAILURES_AT_MOST);
  }

  private key(name: string): string {
    return `live ${name} ${JSON.stringify(this.scope)}`;
  }

  private async loadTasks(): Promise<void> {
    const { scope } = this;
    const ask = (signal: AbortSignal) => api.tasks({ ...scope, status: ['running', 'waiting'], limit: 500 }, signal);
    await this.tasks.load(ask, this.key('tasks'));
    this.slots = fillSlots(
      this.slots,
      this.busy.map(({ task }) => taskKey(task)),
    );
    // A task that is no longer listed has finished.
    const running = this.items.filter(({ kind }) => kind === 'primary').map(taskKey);
    if (this.running.some((key) => !running.includes(key))) void this.loadFinished();
    this.running = running;
  }

  private async loadAttention(): Promise<void> {
    const { scope } = this;
    await this.attention.load((signal) => api.attention(scope, signal), this.key('attention'));
  }

  private async loadActivity(): Promise<void> {
    const query = { ...this.scope, since: '-6h', buckets: 24 };
    await this.activity.load((signal) => api.activity(query, signal), this.key('activity'));
  }

  private async loadFailures(): Promise<void> {
    const key = this.key('failures');
    const query = { ...this.scope, state: 'failed', since: '-24h', limit: FAILURES_AT_MOST } as const;
    await this.failed.load((signal) => api.search(query, signal), key);
    if (this.failed.answers(key) && this.failed.data)
      this.failures = this.failed.data.items.map(({ row, taskTitle }) => ({ row, taskTitle }));
  }

  private async loadFinished(): Promise<void> {
    const { scope } = this;
    await this.finished.load(
      (signal) =>
        api.tasks({ ...scope, status: ['completed', 'failed', 'abandoned'], kind: 'primary', limit: 12 }, signal),
      this.key('finished'),
    );
  }
}
