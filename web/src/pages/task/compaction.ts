/** What is said about a compaction: pure. */

/** How much of a context was kept; nothing where one of both is unknown. */
export function formatKeptShare(before: number | undefined, after: number | undefined): string {
  if (!before || after === undefined) return '';
  const part = (after / before) * 100;
  return part > 0 && part < 1 ? 'less than 1 % kept' : `${Math.round(part)} % kept`;
}

const MANY: Record<string, string> = {
  prompt: 'prompts',
  answer: 'answers',
  thought: 'thoughts',
  call: 'calls',
  result: 'results',
  summary: 'summaries',
  harness: 'of the harness',
};

/** `6 calls`, `1 prompt`: the pieces of one side, most first. */
export function formatPieces(pieces: Readonly<Record<string, number>>): string[] {
  return Object.entries(pieces)
    .filter(([, n]) => n > 0)
    .sort(([a, n], [b, m]) => m - n || a.localeCompare(b))
    .map(([name, n]) => `${n.toLocaleString('en-US')} ${n === 1 && name !== 'harness' ? name : (MANY[name] ?? name)}`);
}
