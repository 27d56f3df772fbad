/** Answers over many tasks, made up in proportion to the length of the range. */
import type { ActivityBucket, AgentStat, CommandStat, FailureStat, FileStat, Limit, Loop, McpStat, SkillStat, ToolStat, UsageBlock, UsageBucket, UsageView } from '../src/api/types.ts';
import { Random } from './random.ts';
import { emptyUsage } from './story.ts';

const usage = (cost: number): UsageView => ({ ...emptyUsage(), inputTokens: Math.round(cost * 2100), outputTokens: Math.round(cost * 12_000), cacheReadTokens: Math.round(cost * 1_400_000), cacheCreationTokens: Math.round(cost * 44_000), costUsd: cost, provenance: { responses: Math.round(cost * 23), unpriced: cost > 30 ? 4 : 0, copies: 0 } });

export function tools(days: number): ToolStat[] {
  const table: [string, number, number, number][] = [['Bash', 410, 0.13, 900], ['Read', 980, 0.02, 13], ['Edit', 330, 0.05, 34], ['Grep', 380, 0.01, 62], ['Agent', 22, 0.04, 64_000], ['Glob', 90, 0.01, 41], ['Write', 60, 0.03, 36], ['WebFetch', 18, 0.14, 2600], ['WebSearch', 31, 0.04, 1900], ['mcp__tracker__get_issue', 24, 0.08, 640], ['TodoWrite', 70, 0, 8], ['AskUserQuestion', 5, 0, 41_000]];
  return table.map(([tool, perDay, failing, p50]) => {
    const count = Math.round(perDay * days);
    return { tool, count, failures: Math.round(count * failing), p50Ms: p50, p95Ms: p50 * 7.2, p99Ms: p50 * 19, totalMs: Math.round(count * p50 * 1.9) };
  });
}

export function failures(days: number): FailureStat[] {
  return ([['non_zero_exit', 'Bash', 41, 410], ['timeout', 'Bash', 6, 410], ['invalid_input', 'Edit', 12, 330], ['not_found', 'Read', 17, 980], ['permission', 'Bash', 5, 410], ['network', 'WebFetch', 3, 18], ['hook_blocked', 'Write', 1, 60]] as const)
    .map(([errorClass, tool, count, calls]) => ({ errorClass, tool, count: Math.ceil(count * days * 0.4), calls: Math.round(calls * days) }));
}

export function usageBy(by: string, from: number, to: number): UsageBucket[] {
  const days = Math.max((to - from) / 86_400_000, 0.05);
  if (by === 'day' || by === 'week' || by === 'month') {
    const step = by === 'day' ? 1 : by === 'week' ? 7 : 30;
    return Array.from({ length: Math.max(1, Math.ceil(days / step)) }, (_, i) => {
      const at = to - i * step * 86_400_000;
      const random = new Random(Math.floor(at / 86_400_000));
      return { key: new Date(at).toISOString().slice(0, 10), usage: usage(random.skewed(14) * step) };
    }).reverse();
  }
  const parts: Record<string, [string, number][]> = {
    model: [['claude-opus-4-8', 9.1], ['claude-sonnet-5', 3.4], ['gpt-5.2-codex', 2.2], ['claude-haiku-4-5', 0.3]],
    project: [['/home/dev/agent-tracer', 8], ['/home/dev/webshop', 3.1], ['/home/dev/infra', 2.2], ['/home/dev/papers', 0.9], ['/home/dev/compiler', 0.8]],
    agent: [['claude_code', 12.8], ['codex', 2.2]],
    agentType: [['main', 9.4], ['Explore', 2.9], ['general-purpose', 1.9], ['code-reviewer', 0.8]],
    skill: [['release', 0.8], ['write-adr', 0.3]],
  };
  return (parts[by] ?? []).map(([key, cost]) => ({ key, usage: usage(cost * days) }));
}

export const skills = (days: number): SkillStat[] => [['release', 3], ['write-adr', 2], ['review-diff', 6]].map(([skill, n]) => ({ skill: String(skill), count: Math.ceil(Number(n) * days), failures: 0, usage: usage(Number(n) * 0.3 * days) }));
export const mcp = (days: number): McpStat[] => [['tracker', 'get_issue', 24], ['tracker', 'comment', 6], ['browser', 'navigate', 11]].map(([server, tool, n]) => ({ server: String(server), tool: String(tool), count: Math.ceil(Number(n) * days), failures: Math.ceil(Number(n) * days * 0.06), totalMs: Math.ceil(Number(n) * days * 700) }));
export const agents = (days: number): AgentStat[] => [['main', 14, 1500, 9.4], ['Explore', 11, 420, 2.9], ['general-purpose', 6, 310, 1.9], ['code-reviewer', 3, 90, 0.8]].map(([agentType, tasks, calls, cost]) => ({ agentType: String(agentType), tasks: Math.ceil(Number(tasks) * days), toolCalls: Math.ceil(Number(calls) * days), failures: Math.ceil(Number(calls) * days * 0.05), runMs: Math.ceil(Number(tasks) * days * 640_000), toolMs: Math.ceil(Number(calls) * days * 1900), usage: usage(Number(cost) * days) }));
export const commands = (days: number): CommandStat[] => ([['cargo test', 41, 9, 21_000], ['cargo clippy', 30, 4, 14_000], ['npm run', 18, 2, 9000], ['pytest', 11, 1, 17_000], ['git push', 4, 1, 2100], ['git status', 70, 0, 60], ['rg', 130, 2, 45], ['curl', 9, 2, 90]] as const).map(([command, n, failed, ms]) => ({ command, count: Math.ceil(n * days), failures: Math.ceil(failed * days), totalMs: Math.ceil(n * days * ms), meanMs: ms }));
export const files = (days: number): FileStat[] => ['src/store/append.rs', 'src/http/stream.rs', 'tests/it/main.rs', 'Cargo.toml', 'web/src/App.svelte', 'docs/ARCHITECTURE.md'].map((path, i) => ({ path: `/home/dev/agent-tracer/${path}`, project: '/home/dev/agent-tracer', reads: Math.ceil((40 - i * 5) * days), changes: Math.ceil((12 - i * 2) * days) }));

export function loops(now: number): Loop[] {
  return [['task-hero', 'Bash', 'cargo test -p ledger', 14, 11], ['task-0', 'Read', 'Read src/store/append.rs', 9, 0], ['task-3', 'Edit', 'Change Cargo.toml', 6, 6]].map(([taskId, tool, title, count, failed]) => ({
    taskId: String(taskId), tool: String(tool), title: String(title), count: Number(count), failures: Number(failed), firstAt: new Date(now - 5_000_000).toISOString(), lastAt: new Date(now - 900_000).toISOString(), lastId: `${taskId}-5`,
  }));
}

export function activity(from: number, to: number, buckets: number): ActivityBucket[] {
  const step = (to - from) / buckets;
  return Array.from({ length: buckets }, (_, i) => {
    const at = from + i * step;
    const random = new Random(Math.floor(at / 3_600_000) + i);
    const hour = new Date(at).getUTCHours();
    const busy = (hour > 7 && hour < 19 ? 1 : 0.12) * (step / 3_600_000);
    const calls = Math.round(step < 600_000 ? random.skewed(14) : random.skewed(90) * busy);
    return { at: new Date(at).toISOString(), events: calls * 3, toolCalls: calls, failures: Math.round(calls * random.next() * 0.14), toolMs: calls * 4200, waitingMs: Math.round(calls * 2600 * random.next()), inputTokens: calls * 61_000, outputTokens: calls * 520, costUsd: calls * 0.043 };
  });
}
export const limits = (now: number): Limit[] => ([['claude_code', 'five_hour', 61, 2.2], ['claude_code', 'seven_day', 34, 90], ['codex', 'five_hour', 12, 3.1]] as const).map(([agent, window, usedPct, hours]) => ({ agent, window, usedPct, at: new Date(now - 40_000).toISOString(), resetsAt: new Date(now + hours * 3_600_000).toISOString() }));
export const blocks = (now: number): UsageBlock[] => [{ startedAt: new Date(now - 5_400_000).toISOString(), endsAt: new Date(now + 12_600_000).toISOString(), lastAt: new Date(now).toISOString(), isActive: true, usage: usage(4.2), forecast: { tokensPerMinute: 41_000, costPerHourUsd: 2.8, tokens: 12_000_000, costUsd: 14 } }];
