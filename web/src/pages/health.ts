/** What the page about the tracer itself may claim. */
import type { Health } from '../api/types';

/** Whether a source ever spoke; unknown while the store cannot say. */
export const isConnected = (health: Health): boolean | undefined =>
  health.sources?.some((source) => source.observations > 0);

/** One line about everything. Without a source that ever spoke nothing is known to work. */
export function headline(health: Health, isOld: boolean): string {
  if (isOld) return 'State unknown';
  if (health.status !== 'ok' || isConnected(health) === undefined) return 'Something needs attention';
  return isConnected(health) ? 'All systems OK' : 'No source connected yet';
}
