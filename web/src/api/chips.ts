/**
 * The language of the search box: `tool:Bash status:failed agent:Explore >10s cargo`. Whatever is not a chip is a word
 * to search for; an unknown chip stays a word, so that text with colons can be searched too.
 */
import type { QueryOf } from './endpoints';

export type SearchQuery = QueryOf<'/api/v1/search'>;

/** The parameters of the search that have a chip. */
type ChipName = Exclude<keyof SearchQuery, 'q' | 'cursor' | 'limit'>;

export interface Chip {
  name: ChipName;
  value: string;
  /** As it was written. */
  text: string;
}

export interface Parsed {
  chips: Chip[];
  words: string;
}

const NAMES: Record<string, ChipName> = {
  tool: 'tool',
  status: 'state',
  state: 'state',
  agent: 'agentType',
  type: 'agentType',
  kind: 'kind',
  project: 'project',
  owner: 'owner',
  person: 'owner',
  machine: 'machine',
  client: 'agent',
  task: 'task',
  since: 'since',
  until: 'until',
};
/** Chips of a team's server. */
export const TEAM_CHIPS = ['owner:', 'machine:'] as const;
export const CHIP_NAMES = ['tool:', 'status:', 'agent:', 'kind:', 'project:', 'client:', 'since:', '>'] as const;
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** Cuts at blanks, but not inside quotes. */
function splitWords(text: string): string[] {
  return [...text.matchAll(/(?:[^\s"]+:)?"[^"]*"?|\S+/g)].map((match) => match[0]);
}

const unquote = (text: string) => text.replaceAll('"', '');

export function parseSearch(text: string): Parsed {
  const chips: Chip[] = [];
  const words: string[] = [];
  for (const piece of splitWords(text)) {
    const longer = /^>(\d+(?:\.\d+)?)(ms|s|min|m|h)$/.exec(piece);
    const named = /^([a-z]+):(.+)$/s.exec(piece);
    const name = named ? NAMES[named[1]!] : undefined;
    if (longer)
      chips.push({
        name: 'longerThanMs',
        value: String(Math.round(Number(longer[1]) * UNITS[longer[2]!]!)),
        text: piece,
      });
    else if (name && unquote(named![2]!)) chips.push({ name, value: unquote(named![2]!), text: piece });
    else if (unquote(piece)) words.push(unquote(piece));
  }
  return { chips, words: words.join(' ') };
}

/** Builds the query; of two chips with one name the last one counts. */
export function toQuery({ chips, words }: Parsed): SearchQuery {
  const query: SearchQuery = { q: words || undefined };
  for (const { name, value } of chips) {
    if (name === 'longerThanMs') query.longerThanMs = Number(value);
    // The server checks the values; it knows more of them than a page does.
    else (query as Record<ChipName, unknown>)[name] = value;
  }
  return query;
}

/** The text without one of its chips. */
export function removeChip(text: string, chip: Chip): string {
  const all = splitWords(text);
  const at = all.indexOf(chip.text);
  return all.filter((_, i) => i !== at).join(' ');
}
