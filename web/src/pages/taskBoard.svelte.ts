/**
 * The data of the Tasks page: the filtered list, the choices of its filters, and the subagents of opened tasks. The
 * address holds the filter and what is open, so that a link and the back button restore both.
 */
import { api } from '../api/client';
import type { Task, TreeNode } from '../api/types';
import { Paged } from '../app/paged.svelte';
import { router } from '../app/router.svelte';
import type { Listener } from '../app/stream';
import { folder, foldersOf, taskKey } from '../text/format';
import { throttle } from '../ui/throttle';
import { askFor, readFilter, type TaskStatus } from './taskFilter';
import { nestTasks } from './taskLines';

const PAGE = 200;
const CHOICES = 100;
const REFRESH_MS = 1000;
/** Opened tasks whose subagents are loaded again with each refresh: each of them is a request. */
const OPEN_AT_MOST = 50;

/** How long a task has taken; one that runs has run until `now`. */
export const spentMs = ({ startedAt, endedAt, status, lastEventAt }: Task, now: number): number =>
  (endedAt ? Date.parse(endedAt) : status === 'running' ? now : Date.parse(lastEventAt)) - Date.parse(startedAt);

export class TaskBoard {
  readonly list = new Paged<Task>(taskKey);
  /** What the filters offer. */
  choices = $state.raw<{ projects: readonly string[]; models: readonly string[] }>({ projects: [], models: [] });
  readonly filter = $derived(readFilter(router.query));
  /** The question as text: an effect that reads it runs again only for another question, not for another address. */
  readonly question = $derived(JSON.stringify(askFor(this.filter)));

  private readonly opened = $derived(new Set(router.get('open').split(',').filter(Boolean)));
  private trees = $state.raw<ReadonlyMap<string, readonly TreeNode[]>>(new Map());
  readonly lines = $derived(nestTasks(this.list.rows, this.opened, this.trees));
  private readonly open = $derived(this.list.rows.filter((task) => this.opened.has(task.id)).slice(0, OPEN_AT_MOST));
  private readonly folders = $derived(
    foldersOf([...this.choices.projects, ...this.list.rows.map(({ project }) => project)]),
  );
  private readonly refresh = throttle(REFRESH_MS, () => {
    if (this.open.length > 0) void this.loadTrees(this.open);
    void this.list.refresh();
  });

  readonly listener: Listener = {
    rows: this.refresh,
    opened: this.refresh,
    reload: () => void this.load(),
  };

  projectName(path: string): string {
    return this.folders.get(path) ?? folder(path);
  }

  async load(): Promise<void> {
    const query = askFor(this.filter);
    await this.list.load(
      (cursor, signal) => api.tasks({ ...query, limit: PAGE, cursor }, signal),
      `tasks ${this.question}`,
    );
  }

  /** Loads what the filters offer; without it they still filter by what the address says. */
  async loadChoices(): Promise<void> {
    const keys = async (by: 'project' | 'model') =>
      (await api.usage({ by, limit: CHOICES })).items.map(({ key }) => key);
    try {
      const [projects, models] = await Promise.all([keys('project'), keys('model')]);
      this.choices = { projects, models };
    } catch {
      // The list reports that the server is away.
    }
  }

  /** The opened tasks whose subagents are not known yet. Reads the list, not what is known of trees. */
  loadMissingTrees(isKnown: (key: string) => boolean): void {
    const missing = this.open.filter((task) => !isKnown(taskKey(task)));
    if (missing.length > 0) void this.loadTrees(missing);
  }
  knowsTree(key: string): boolean {
    return this.trees.has(key);
  }

  private async loadTrees(tasks: readonly Task[]): Promise<void> {
    const tree = async (task: Task): Promise<[string, readonly TreeNode[]]> => [
      taskKey(task),
      // What is shown stays where the answer fails.
      (await api.tree(task).catch(() => ({ items: this.trees.get(taskKey(task)) ?? [] }))).items,
    ];
    const found = await Promise.all(tasks.map(tree));
    this.trees = new Map([...this.trees, ...found]);
  }

  /** Shows or hides the subagents of a task. */
  flipOpen(id: string): void {
    const { opened } = this;
    router.set({ open: (opened.has(id) ? [...opened].filter((one) => one !== id) : [...opened, id]).join(',') });
  }
  flipStatus(status: TaskStatus): void {
    const now = new Set<string>(this.filter.status);
    if (!now.delete(status)) now.add(status);
    router.set({ status: [...now].join(',') || undefined });
  }
  flipFailed(): void {
    router.set({ failed: this.filter.failed ? undefined : '1' });
  }
  flipSubagents(): void {
    router.set({ subagents: this.filter.subagents ? undefined : '1' });
  }

  close(): void {
    this.refresh.cancel();
    this.list.cancel();
  }
}
