// @vitest-environment happy-dom
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api, Problem } from '../../api/client';
import type { Backtest as Result, Policies as Answer, Policy, Settings } from '../../api/types';
import { router } from '../../app/router.svelte';
import { toasts } from '../../app/toasts.svelte';
import { button, click, press, removeRendered, render, type } from '../../ui/renderForTest';
import Backtest from './Backtest.svelte';
import Policies from './Policies.svelte';

const rule = (name: string, more: Partial<Policy> = {}) =>
  ({
    name,
    source: '/home/ann/.config/policy.toml',
    origin: 'user',
    line: 3,
    events: ['PreToolUse'],
    matches: ['tool = Bash'],
    decision: 'deny',
    mode: 'enforce',
    enabled: true,
    onOutage: 'allow',
    severity: 'high',
    counts: { count: 5, dryRun: 0, heldBack: 0, meanUs: 1200, outcomes: { denied: 5 }, lastAt: '2026-01-01T00:00:00Z' },
    ...more,
  }) as unknown as Policy;
const answer = (items: Policy[], more: Partial<Answer> = {}) =>
  ({ items, past: [], files: [], problems: [], deadlineMs: 120, ...more }) as unknown as Answer;
const result = (more: Partial<Result> = {}) =>
  ({
    moments: 12,
    calls: 10,
    tasks: 2,
    since: '2026-01-01T00:00:00Z',
    complete: true,
    outcomes: {},
    rules: [],
    ...more,
  }) as unknown as Result;

beforeEach(() => {
  router.go('/policies', 'replace');
  vi.spyOn(api, 'settings').mockResolvedValue({ mayWrite: true } as Settings);
  vi.spyOn(api, 'decisions').mockResolvedValue({ items: [] });
});
afterEach(async () => {
  await removeRendered();
  vi.restoreAllMocks();
});
const settled = (check: () => void) =>
  vi.waitFor(() => {
    flushSync();
    check();
  });

describe('the page of policies', () => {
  async function show(found: Answer): Promise<HTMLElement> {
    vi.spyOn(api, 'policies').mockResolvedValue(found);
    const box = render(Policies, {});
    await settled(() => expect(box.querySelector('#rules')).not.toBeNull());
    return box;
  }

  it('says what each rule does, how often it matched, and links to those decisions', async () => {
    const box = await show(answer([rule('no force push')]));
    const row = box.querySelector('tbody tr')!;
    expect(row.querySelectorAll('th, td')).toHaveLength(box.querySelectorAll('thead th').length);
    expect(
      ['no force push', 'PreToolUse', 'deny', 'enforced', '1.2 ms'].filter((word) => !row.textContent.includes(word)),
    ).toEqual([]);
    expect(row.querySelector('a')?.getAttribute('href')).toContain('rule=no+force+push');
  });

  it('does not call a rule enforced that is only tried, or suppressed', async () => {
    const box = await show(
      answer([rule('tried', { enabled: false, mode: 'dry_run' }), rule('held', { enabled: false, mode: 'enforce' })]),
    );
    const modes = [...box.querySelectorAll('tbody tr')].map((row) => row.querySelectorAll('td')[2]?.textContent.trim());
    expect(modes).toEqual(['dry run', 'suppressed']);
  });

  it('offers to write a first file where there is no rule', async () => {
    expect((await show(answer([]))).textContent).toContain('agent-tracer policy init');
  });

  it('reports problems of the files above the rules', async () => {
    const box = await show(answer([rule('a')], { problems: ['policy.toml:3: unknown key'] } as Partial<Answer>));
    expect(box.querySelector('[role=alert]')?.textContent).toContain('unknown key');
  });

  it('asks for another period', async () => {
    const box = await show(answer([rule('a')]));
    click(button(box, '30 days'));
    await settled(() => expect(vi.mocked(api.policies).mock.calls.at(-1)![0]).toEqual({ since: '-30d' }));
    expect(button(box, '30 days').getAttribute('aria-pressed')).toBe('true');
  });

  it('copies the command that trusts a file', async () => {
    const copy = vi.spyOn(toasts, 'copy').mockResolvedValue();
    const file = { path: '/home/ann/app/.agent-tracer/policy.toml', origin: 'project', rules: 1, trusted: false };
    const box = await show(answer([rule('a')], { files: [file] } as unknown as Partial<Answer>));
    click(box.querySelector('button.copy'));
    expect(copy.mock.calls[0]?.[0]).toContain('agent-tracer policy trust');
  });
});

describe('a backtest', () => {
  async function show(mayWrite = true): Promise<HTMLElement> {
    vi.mocked(api.settings).mockResolvedValue({ mayWrite } as Settings);
    const box = render(Backtest, {});
    await settled(() => expect(button(box, 'Run').disabled).toBe(!mayWrite));
    return box;
  }

  it('runs the draft over the chosen period, also by Ctrl Enter', async () => {
    const run = vi.spyOn(api, 'backtest').mockResolvedValue(result());
    const box = await show();
    const draft = box.querySelector('textarea')!;
    type(draft, 'version = 1');
    press(draft, 'Enter', { ctrlKey: true });
    await settled(() =>
      expect(box.querySelector('[role=status]')?.textContent).toContain('12 hook events of 10 calls'),
    );
    expect(run.mock.calls[0]!.slice(0, 2)).toEqual([{ policy: 'version = 1' }, { since: '-30d' }]);
    expect(box.textContent).toContain('No rule would have matched.');
  });

  it('says when it has not looked at everything', async () => {
    vi.spyOn(api, 'backtest').mockResolvedValue(result({ complete: false, stoppedBy: 'time' } as Partial<Result>));
    const box = await show();
    click(button(box, 'Run'));
    await settled(() => expect(box.textContent).toContain('time limit reached'));
  });

  it('points at each wrong place of a draft', async () => {
    const errors = [{ at: 'policy:3:7', reason: 'unknown key' }];
    vi.spyOn(api, 'backtest').mockRejectedValue(new Problem(422, 'the body is wrong', '', errors));
    const box = await show();
    click(button(box, 'Run'));
    await settled(() => expect(box.querySelector('[role=alert] li')?.textContent).toMatch(/line 3.*unknown key/s));
  });

  it('runs nothing for a reader without the right, and says how to get it', async () => {
    const run = vi.spyOn(api, 'backtest').mockResolvedValue(result());
    const box = await show(false);
    await settled(() => expect(box.textContent).toContain('Read-only'));
    press(box.querySelector('textarea')!, 'Enter', { ctrlKey: true });
    expect(run).not.toHaveBeenCalled();
  });

  it('can be stopped', async () => {
    vi.spyOn(api, 'backtest').mockImplementation(() => new Promise(() => undefined));
    const box = await show();
    click(button(box, 'Run'));
    expect(button(box, 'Running…').disabled).toBe(true);
    click(button(box, 'Stop'));
    expect(button(box, 'Run').disabled).toBe(false);
  });
});
