/**
 * Finding in a task: the bars that match a text, and the next one of them. Pure.
 *
 * The words are those of the search page: `tool:Bash status:failed agent:Explore >10s cargo`. All of them have to hold.
 */
import { parseSearch } from '../api/chips';
import type { Bar } from './bars';

/** Something that was found, where it stands. */
export interface Match {
  id: string;
  taskId: string;
  lane: string;
  start: number;
  end: number;
}

const same = (a: string | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();

/** Returns a test for bars, or nothing for an empty text. `agentTypes` holds the type of agent of each task. */
export function compileMatcher(
  text: string,
  agentTypes: ReadonlyMap<string, string>,
): ((bar: Bar) => boolean) | undefined {
  const { chips, words } = parseSearch(text);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0 && chips.length === 0) return undefined;
  return (bar) => {
    if (bar.id === undefined || bar.count > 1) return false;
    for (const { name, value } of chips) {
      if (name === 'tool' && !same(bar.tool, value)) return false;
      if (
        name === 'state' &&
        !(
          same(bar.state, value) ||
          (same('failed', value) && bar.failures > 0) ||
          (same('running', value) && bar.running)
        )
      )
        return false;
      if (name === 'agentType' && !same(agentTypes.get(bar.taskId), value)) return false;
      if (name === 'kind' && !same(bar.kind, value)) return false;
      if (name === 'longerThanMs' && bar.end - bar.start <= Number(value)) return false;
    }
    const haystack = `${bar.label} ${bar.tool ?? ''} ${bar.files?.join(' ') ?? ''}`.toLowerCase();
    return wanted.every((word) => haystack.includes(word));
  };
}

/** Returns the matching bars in order of time. */
export function findMatches(bars: readonly Bar[], test: (bar: Bar) => boolean): Match[] {
  const out: Match[] = [];
  for (const bar of bars)
    if (test(bar)) out.push({ id: bar.id!, taskId: bar.taskId, lane: bar.lane, start: bar.start, end: bar.end });
  return sortMatches(out);
}

export const sortMatches = (matches: Match[]): Match[] =>
  matches.sort((a, b) => a.start - b.start || a.id.localeCompare(b.id));

/** The match after or before the selected one, or else after or before a moment; from the last on to the first. */
export function nextMatch(
  matches: readonly Match[],
  selected: string | undefined,
  moment: number,
  step: 1 | -1,
): Match | undefined {
  if (matches.length === 0) return undefined;
  const at = selected === undefined ? -1 : matches.findIndex(({ id }) => id === selected);
  if (at >= 0) return matches[(at + step + matches.length) % matches.length];
  const later = matches.findIndex(({ start }) => start >= moment);
  if (step === 1) return matches[later < 0 ? 0 : later];
  return matches[later <= 0 ? matches.length - 1 : later - 1];
}
