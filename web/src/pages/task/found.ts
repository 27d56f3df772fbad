/** The search of a task page, for the panels below the timeline. */
import { getContext, setContext } from 'svelte';

/** The part of the search that a panel needs. */
export interface Found {
  readonly active: boolean;
  readonly ids: ReadonlySet<string>;
  readonly isPartial: boolean;
}

export const FOUND = Symbol('found');

/** Gives the search to all panels of the page. Must be called while the page is made. */
export const provideFound = <T extends Found>(finder: T): T => setContext(FOUND, finder);

/** Returns the search of the page, or nothing outside of a task page. */
export const getFound = (): Found | undefined => getContext<Found | undefined>(FOUND);
