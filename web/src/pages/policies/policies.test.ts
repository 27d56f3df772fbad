import { describe, expect, it } from 'vitest';

import { about, decisionsUrl, found, micros, outcomes, place, standing, trustCommand } from './rules';

describe('rules in words', () => {
  it('name outcomes the strictest first and leave out what never was', () => {
    expect(outcomes({ outcomes: { allow: 3, deny: 1, warn: 0, someday: 2, ask: 5 } })).toEqual([
      ['deny', 1],
      ['ask', 5],
      ['allow', 3],
      ['someday', 2],
    ]);
    expect(found({ allowed: 2, rewritten: 0, warned: 1, asked: 0, denied: 4, stopped: 0 })).toEqual([
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
    expect(standing({ status: 'dry_run', answeredBy: 'server' })).toBe('rehearsed');
    expect(standing({ status: 'enforced', answeredBy: 'outage' })).toBe('in force, because nobody answered');
    expect(standing({ status: 'new_word', answeredBy: 'guard' })).toBe('new word, by the guard');
  });

  it('say what a decision was about, whatever the moment is called', () => {
    expect(about({ inputs: { event: 'PreToolUse', toolName: 'Bash' } })).toBe('before Bash');
    expect(about({ inputs: { event: 'Stop' } })).toBe('the end of a turn');
    expect(about({ inputs: { event: 'NewEvent', toolName: 'Edit' } })).toBe('NewEvent Edit');
    expect(about({ inputs: {} })).toBe('something that was not told');
  });

  it('write times and places short', () => {
    expect([micros(undefined), micros(830), micros(1450), micros(48_200)]).toEqual(['–', '830 µs', '1.4 ms', '48 ms']);
    expect([place('policy:12:3'), place('/policy')]).toEqual(['line 12, column 3', '/policy']);
  });
});
