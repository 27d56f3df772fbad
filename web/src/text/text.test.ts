import { describe, expect, it } from 'vitest';

import {
  ago,
  bytes,
  certaintyName,
  percentChange,
  cost,
  count,
  duration,
  folder,
  moment,
  money,
  percent,
  pointChange,
  axisDuration,
  shortPath,
  step,
  timeMark,
  taskTitle,
  sumCosts,
  unpricedNote,
  until,
} from './format';
import { escapeBlock, escapeLine, splitSnippet } from './escape';

describe('foreign text', () => {
  it('shows control characters instead of obeying them', () => {
    expect(escapeLine('\u001b[2Jred\u0007')).toBe('␛[2Jred␇');
    expect(escapeBlock('a\u0000b\u007fc\u009b1J').text).toBe('a␀b␡c⟨9B⟩1J');
  });

  it('drops the colours of a terminal, and no text that only looks like them', () => {
    expect(escapeLine('\u001b[31mred\u001b[0m and \u001b[1;38;5;9mmore\u009bm')).toBe('red and more');
    expect(escapeBlock("printf '\\033[31m'").text).toBe("printf '\\033[31m'");
  });

  it('names what would turn the line around', () => {
    expect(escapeLine('evil\u202egnp.exe')).toBe('evil⟨RLO⟩gnp.exe');
    expect(escapeLine('\u2067abc\u2069')).toBe('⟨RLI⟩abc⟨PDI⟩');
  });

  it('leaves letters of every script alone', () => {
    const text = 'שלום مرحبا 你好 👩‍👩‍👧 naïve';
    expect(escapeLine(text)).toBe(text);
  });

  it('keeps lines in blocks and folds them in lines', () => {
    expect(escapeBlock('a\r\nb\tc').text).toBe('a\nb\tc');
    expect(escapeLine('a\r\nb\tc   d')).toBe('a ⏎ b c d');
    expect(escapeLine('a\rb')).toBe('a␍b');
  });

  it('cuts long text and returns how much was left out', () => {
    const long = 'x'.repeat(1_000_000);
    expect(escapeBlock(long, 100)).toEqual({ text: 'x'.repeat(100), cut: 999_900 });
    expect(escapeLine(long)).toHaveLength(401);
  });

  it('does not break on halves of characters', () => {
    expect(escapeLine('a\ud800b')).toBe('a�b');
  });

  it('marks the words that matched and nothing else', () => {
    expect(splitSnippet('run ⟦cargo⟧ test')).toEqual([
      { text: 'run ', hit: false },
      { text: 'cargo', hit: true },
      { text: ' test', hit: false },
    ]);
    expect(splitSnippet('no ⟦ end')).toEqual([
      { text: 'no ', hit: false },
      { text: ' end', hit: false },
    ]);
    expect(splitSnippet('<b>⟦<i>⟧')).toEqual([
      { text: '<b>', hit: false },
      { text: '<i>', hit: true },
    ]);
  });
});

describe('numbers', () => {
  it('read durations with at most two units', () => {
    expect([0, 0.4, 12.6, 999.6, 4210, 59_960, 187_000, 7_500_000, 280_000_000].map(duration)).toEqual([
      '0 ms',
      '0 ms',
      '13 ms',
      '1.0 s',
      '4.2 s',
      '1m 00s',
      '3m 07s',
      '2h 05m',
      '3d 6h',
    ]);
    expect([duration(undefined), duration(Number.NaN), duration(-5)]).toEqual(['–', '–', '0 ms']);
  });

  it('shorten counts', () => {
    expect([0, 999, 1000, 9_960, 12_400, 999_600, 3_100_000, 12_000_000_000].map(count)).toEqual([
      '0',
      '999',
      '1.0k',
      '10k',
      '12k',
      '1.0M',
      '3.1M',
      '12.0G',
    ]);
  });

  it('never show a cost that is not known as one that is', () => {
    const usage = (costUsd: number, responses: number, without: number) => ({
      costUsd,
      provenance: { responses, unpriced: without },
    });
    expect(
      [usage(0, 3, 0), usage(2.12, 80, 0), usage(2.12, 80, 27), usage(0, 4, 4), usage(0.001, 9, 1)].map(cost),
    ).toEqual(['$0.00', '$2.12', '≥ $2.12', 'no price', '> $0.00']);
    expect(cost(undefined)).toBe('–');
    expect([usage(2, 80, 27), usage(0, 1, 1), usage(2, 80, 0)].map(unpricedNote)).toEqual([
      '27 of 80 responses have no price',
      '1 of 1 response has no price',
      '',
    ]);
    expect(cost(sumCosts([usage(2, 3, 0), usage(0, 4, 4)]))).toBe('≥ $2.00');
  });

  it('call every degree of certainty as the legend does', () => {
    expect(['measured', 'reported', 'inferred', 'guessed', 'mixed'].map(certaintyName)).toEqual([
      'measured',
      'reported',
      'inferred',
      'estimated',
      'mixed',
    ]);
  });

  it('never show some money as none', () => {
    expect([0, 0.001, 0.424, 13.7, 1204.4].map(money)).toEqual(['$0.00', '<$0.01', '$0.42', '$13.70', '$1,204']);
  });

  it('know bytes and parts', () => {
    expect([0, 1023, 14_336, 3_355_443, 5e12].map(bytes)).toEqual(['0 B', '1023 B', '14 KB', '3.2 MB', '4.5 TB']);
    expect([0, 0.42, 3.4, undefined].map(percent)).toEqual(['0 %', '0.4 %', '3 %', '–']);
  });

  it('name moments by how far they are away', () => {
    const now = new Date(2026, 5, 15, 12, 0).getTime();
    expect(moment(new Date(2026, 5, 15, 9, 5).getTime(), now)).toBe('09:05');
    expect(moment(new Date(2026, 2, 3, 9, 5).getTime(), now)).toBe('3 Mar 09:05');
    expect(moment(new Date(2024, 2, 3, 9, 5).getTime(), now)).toBe('3 Mar 2024');
    expect(moment('nonsense', now)).toBe('–');
    expect([1000, 45_000, 300_000, 7_300_000, 200_000_000].map((ms) => ago(now - ms, now))).toEqual([
      'just now',
      '45 s',
      '5 min',
      '2 h',
      '2 d',
    ]);
  });

  it('compare with the range before', () => {
    expect([
      percentChange(112, 100),
      percentChange(50, 100),
      percentChange(5, 0),
      percentChange(100, 100),
      percentChange(40, 1),
    ]).toEqual(['+12 %', '−50 %', '', '±0 %', '×40']);
  });

  it('say how two percentages differ in points', () => {
    expect([pointChange(9, 7.3), pointChange(1, 4), pointChange(2, 2.01)]).toEqual([
      '+1.7 points',
      '−3.0 points',
      '±0 points',
    ]);
  });

  it('say how long it is until then, and how long a step is', () => {
    expect([30_000, 1_500_000, 7_500_000, 200_000_000, -5].map((ms) => until(ms, 0))).toEqual([
      '1 min',
      '25 min',
      '2h 05m',
      '2 d',
      '0 min',
    ]);
    expect([900_000, 10_800_000, 86_400_000].map(step)).toEqual(['15 min', '3 h', '1 d']);
  });

  it('are short at the marks of an axis', () => {
    expect([0, 500, 30_000, 120_000, 5_400_000].map(axisDuration)).toEqual(['0', '500 ms', '30 s', '2 min', '1.5 h']);
  });

  it('name a task that has no title by its session', () => {
    expect([
      taskTitle({ title: ' ', runtimeSessionId: '0123456789' }),
      taskTitle({ title: 'x', runtimeSessionId: 'y' }),
    ]).toEqual(['Session 01234567', 'x']);
  });

  it('shorten names', () => {
    expect([folder('/home/a/project/'), folder('C:\\x\\y'), folder('')]).toEqual(['project', 'y', '']);
    expect([shortPath('/a/b/c.rs', '/a/b'), shortPath('/a/b', '/a/b'), shortPath('/x', '/a')]).toEqual([
      'c.rs',
      '/a/b',
      '/x',
    ]);
  });
});

describe('marks of a time axis', () => {
  const at = (hour: number, minute = 0) => new Date(2026, 10, 9, hour, minute).getTime();

  it('name the day where one begins, so that half days are not all alike', () => {
    expect([
      timeMark(at(0), 43_200_000),
      timeMark(at(12), 43_200_000),
      timeMark(at(6, 30), 1_800_000),
      timeMark(at(1), 86_400_000),
    ]).toEqual(['9 Nov', '12:00', '06:30', '9 Nov']);
  });
});
