/** The list of tasks with the subagents of those that are open below them. Pure. */
import type { Task, TreeNode } from '../api/types';
import { taskKey } from '../text/format';

export interface TaskLine {
  /** A task may stand in the list and below its parent at once, so its place is part of the key. */
  key: string;
  task: Task;
  depth: number;
  /** Whether its subagents are shown; undefined where it has none, or where it is one itself. */
  open: boolean | undefined;
}

export function nestTasks(
  tasks: readonly Task[],
  opened: ReadonlySet<string>,
  trees: ReadonlyMap<string, readonly TreeNode[]>,
): TaskLine[] {
  return tasks.flatMap((task): TaskLine[] => {
    const open = task.childCount > 0 ? opened.has(task.id) : undefined;
    const line: TaskLine = { key: taskKey(task), task, depth: 0, open };
    if (!open) return [line];
    // The first node of a tree is the task itself; the others carry their depth.
    const below = (trees.get(taskKey(task)) ?? []).filter((node) => node.task.id !== task.id);
    return [
      line,
      ...below.map((node): TaskLine => ({
        key: `${taskKey(task)} ${node.task.id}`,
        task: node.task,
        depth: Math.max(node.depth, 1),
        open: undefined,
      })),
    ];
  });
}
