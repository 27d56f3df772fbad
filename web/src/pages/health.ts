/** The headline of the Health page. */
import type { Health } from '../api/types';

/** Whether a source has ever delivered an event; unknown while the store does not respond. */
export const isConnected = (health: Health): boolean | undefined =>
  health.sources?.some((source) => source.observations > 0);

/** One line about the whole state. Without any delivered event nothing is known to work. */
export function headline(health: Health, isOld: boolean): string {
  if (isOld) return 'Status unknown';
  if (health.status !== 'ok' || isConnected(health) === undefined) return 'Needs attention';
  return isConnected(health) ? 'All systems OK' : 'No source connected yet';
}
