/** The words of a compaction. Pure. */

/** How much of a context was kept; nothing where one of both is unknown. */
export function formatKeptShare(before: number | undefined, after: number | undefined): string {
  if (!before || after === undefined) return '';
  const part = (after / before) * 100;
  return part > 0 && part < 1 ? 'less than 1 % kept' : `${Math.round(part)} % kept`;
}

const PART_NAMES: Record<string, [one: string, many: string]> = {
  prompt: ['prompt', 'prompts'],
  answer: ['answer', 'answers'],
  thought: ['thinking block', 'thinking blocks'],
  call: ['call', 'calls'],
  result: ['result', 'results'],
  summary: ['summary', 'summaries'],
  harness: ['harness message', 'harness messages'],
};

/** The name of one piece of a context. */
export const partName = (part: string): string => PART_NAMES[part]?.[0] ?? part.replaceAll('_', ' ');

/** `6 calls`, `1 prompt`: the pieces of one side, most first. */
export function formatPieces(pieces: Readonly<Record<string, number>>): string[] {
  return Object.entries(pieces)
    .filter(([, n]) => n > 0)
    .sort(([a, n], [b, m]) => m - n || a.localeCompare(b))
    .map(([name, n]) => `${n.toLocaleString('en-US')} ${PART_NAMES[name]?.[n === 1 ? 0 : 1] ?? name}`);
}
