import { describe, expect, it } from 'vitest';

import {
  describeSubject,
  decisionsUrl,
  listVerdicts,
  formatMicros,
  listOutcomes,
  formatPlace,
  describeStatus,
  trustCommand,
} from './rules';

describe('rules in words', () => {
  it('name outcomes the strictest first and leave out what never was', () => {
    expect(listOutcomes({ outcomes: { allow: 3, deny: 1, warn: 0, someday: 2, ask: 5 } })).toEqual([
      ['deny', 1],
      ['ask', 5],
      ['allow', 3],
      ['someday', 2],
    ]);
    expect(listVerdicts({ allowed: 2, rewritten: 0, warned: 1, asked: 0, denied: 4, stopped: 0 })).toEqual([
      ['denied', 4],
      ['warned', 1],
      ['allowed', 2],
    ]);
  });

  it('link to the decisions behind a number', () => {
    expect(decisionsUrl({ rule: 'no & push', mode: 'dry_run', range: undefined })).toBe(
      '/policies?rule=no+%26+push&mode=dry_run#decisions',
    );
    expect(decisionsUrl({ rule: 'x', decision: 'stop' }), 'the server has no such filter').toBe(
      '/policies?rule=x#decisions',
    );
  });

  it('give the command that trusts a file, as a shell reads it, and only where there is something to trust', () => {
    expect(trustCommand({ origin: 'project', path: "/srv/a b/it's/.agent-tracer/policy.toml" })).toBe(
      "agent-tracer policy trust '/srv/a b/it'\\''s/.agent-tracer/policy.toml'",
    );
    expect(trustCommand({ origin: 'project', path: '/srv/a/policy.toml' })).toBe(
      'agent-tracer policy trust /srv/a/policy.toml',
    );
    expect(trustCommand({ origin: 'trusted_project', path: '/srv/a' })).toBeUndefined();
  });

  it('name the mode of a decision and its author', () => {
    expect(describeStatus({ status: 'dry_run', answeredBy: 'server' })).toBe('dry run');
    expect(describeStatus({ status: 'enforced', answeredBy: 'outage' })).toBe('enforced, server unreachable');
    expect(describeStatus({ status: 'new_word', answeredBy: 'guard' })).toBe('new word, by the guard');
  });

  it('name the trigger of a decision, also for unknown hook events', () => {
    expect(describeSubject({ inputs: { event: 'PreToolUse', toolName: 'Bash' } })).toBe('before Bash');
    expect(describeSubject({ inputs: { event: 'Stop' } })).toBe('end of turn');
    expect(describeSubject({ inputs: { event: 'NewEvent', toolName: 'Edit' } })).toBe('NewEvent Edit');
    expect(describeSubject({ inputs: {} })).toBe('not recorded');
  });

  it('write times and places short', () => {
    expect([formatMicros(undefined), formatMicros(830), formatMicros(1450), formatMicros(48_200)]).toEqual([
      '–',
      '830 µs',
      '1.4 ms',
      '48 ms',
    ]);
    expect([formatPlace('policy:12:3'), formatPlace('/policy')]).toEqual(['line 12, column 3', '/policy']);
  });
});
