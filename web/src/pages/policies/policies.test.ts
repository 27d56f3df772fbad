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

  it('say how a decision counted and who made it', () => {
    expect(describeStatus({ status: 'dry_run', answeredBy: 'server' })).toBe('rehearsed');
    expect(describeStatus({ status: 'enforced', answeredBy: 'outage' })).toBe('in force, because nobody answered');
    expect(describeStatus({ status: 'new_word', answeredBy: 'guard' })).toBe('new word, by the guard');
  });

  it('say what a decision was about, whatever the moment is called', () => {
    expect(describeSubject({ inputs: { event: 'PreToolUse', toolName: 'Bash' } })).toBe('before Bash');
    expect(describeSubject({ inputs: { event: 'Stop' } })).toBe('the end of a turn');
    expect(describeSubject({ inputs: { event: 'NewEvent', toolName: 'Edit' } })).toBe('NewEvent Edit');
    expect(describeSubject({ inputs: {} })).toBe('something that was not told');
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
