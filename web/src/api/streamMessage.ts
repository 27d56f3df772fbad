/** Reads the messages of the live stream: a message that is not as described is refused, not cast. */
import type { Row } from './types';

const STRINGS = ['id', 'taskId', 'kind', 'lane', 'title', 'occurredAt', 'certainty', 'agentType'] as const;
const LISTS = ['channels', 'filePaths'] as const;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

function parseObject(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the row of a message, or nothing if a field that the pages rely on is missing or of another type. */
export function parseRow(data: string): Row | undefined {
  const value = parseObject(data);
  if (!value || typeof value['seq'] !== 'number' || !isObject(value['metadata'])) return undefined;
  if (STRINGS.some((name) => typeof value[name] !== 'string')) return undefined;
  if (LISTS.some((name) => !isStrings(value[name]))) return undefined;
  return value as unknown as Row;
}

/** Returns the ids of removed rows, or nothing if the message holds none. */
export function parseRemovedIds(data: string): ReadonlySet<string> | undefined {
  const ids = parseObject(data)?.['ids'];
  return isStrings(ids) ? new Set(ids) : undefined;
}
