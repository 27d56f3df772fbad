/**
 * Makes untrusted text harmless to look at: prompts, paths, commands and names come from agents and from the web.
 *
 * Everything is written as text nodes, so markup never is markup. What is left are characters that act on the reader:
 * control characters become the symbols that Unicode has for them, direction overrides become visible names, and a
 * long text is cut. The element that shows the text isolates right-to-left runs.
 */
const DEL = 0x7f;
/** Embeddings, overrides and isolates: they reorder what stands around them. */
const BIDI: Record<string, string> = {
  '\u061c': '⟨ALM⟩',
  '\u200e': '⟨LRM⟩',
  '\u200f': '⟨RLM⟩',
  '\u202a': '⟨LRE⟩',
  '\u202b': '⟨RLE⟩',
  '\u202c': '⟨PDF⟩',
  '\u202d': '⟨LRO⟩',
  '\u202e': '⟨RLO⟩',
  '\u2066': '⟨LRI⟩',
  '\u2067': '⟨RLI⟩',
  '\u2068': '⟨FSI⟩',
  '\u2069': '⟨PDI⟩',
};
const INVISIBLE: Record<string, string> = {
  '\u200b': '⟨ZWSP⟩',
  '\u2060': '⟨WJ⟩',
  '\ufeff': '⟨BOM⟩',
  '\u00ad': '⟨SHY⟩',
};

const CONTROLS = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
/** Characters without a width, marks of direction, and ends of lines that look like blanks. */
const HIDDEN = '\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff\\u2028\\u2029';
const LONE_SURROGATES = '\\ud800-\\udfff';
const ACTIVE = new RegExp(`[${CONTROLS}${HIDDEN}${LONE_SURROGATES}]`, 'gu');

function visibleForm(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === DEL) return '␡';
  if (code >= 0x80 && code < 0xa0) return `⟨${code.toString(16).toUpperCase()}⟩`;
  if (code === 0x2028 || code === 0x2029) return '␤';
  // With the `u` flag only halves without their other half match here.
  if (code >= 0xd800 && code <= 0xdfff) return '�';
  return BIDI[character] ?? INVISIBLE[character] ?? character;
}

/** Colours and styles of a terminal, which say nothing here. Any other sequence is shown. */
const STYLES = /(?:\u001b\[|\u009b)[\d;:]{0,40}m/g;

export interface EscapedText {
  text: string;
  /** How many characters were left out. */
  cut: number;
}

/** Keeps line breaks and tabs; shows at most `limit` characters. */
export function escapeBlock(text: string, limit = 20_000): EscapedText {
  const cut = text.length - limit;
  const head = cut > 0 ? text.slice(0, limit) : text;
  return { text: head.replace(/\r\n/g, '\n').replace(STYLES, '').replace(ACTIVE, visibleForm), cut: Math.max(cut, 0) };
}

/** One line: breaks and tabs become symbols too, runs of blanks shrink. */
export function escapeLine(text: string, limit = 400): string {
  const head = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return head
    .replace(/\r?\n/g, ' ⏎ ')
    .replace(/[\t ]+/g, ' ')
    .replace(STYLES, '')
    .replace(ACTIVE, visibleForm)
    .trim();
}

export interface Piece {
  text: string;
  hit: boolean;
}

/** Parts of a search snippet; the server puts the words that matched between `⟦` and `⟧`. */
export function splitSnippet(snippet: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [i, part] of snippet.split('⟦').entries()) {
    const close = i === 0 ? -1 : part.indexOf('⟧');
    if (close >= 0) pieces.push({ text: escapeLine(part.slice(0, close)), hit: true });
    const rest = part.slice(close + 1);
    if (rest)
      pieces.push({
        text: rest.length > 400 ? `${rest.slice(0, 400)}…` : rest.replace(STYLES, '').replace(ACTIVE, visibleForm),
        hit: false,
      });
  }
  return pieces;
}
