/** A list of one task that loads when it is shown and again when something happened. */
import { Resource } from '../../app/resource.svelte';

export interface ListResult<T> {
  items: T[];
  complete: boolean;
}

/** Calls `ask` now and whenever what it reads changes. Must be called while a component is made. */
export function loadList<T>(
  ask: (signal: AbortSignal) => Promise<ListResult<T>>,
  pulse: () => number,
  key: () => string,
): Resource<ListResult<T>> {
  const list = new Resource<ListResult<T>>();
  $effect(() => {
    pulse();
    void list.load(ask, key());
  });
  $effect(() => () => list.cancel());
  return list;
}
