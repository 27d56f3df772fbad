/**
 * Slots of the running cards. A card stays in its slot for as long as it runs; a slot that became free is taken by the
 * next new card, so no card moves because another one begins or ends.
 */
export type Slots = readonly (string | undefined)[];

/** Returns the slots after some cards have gone and others have come. Free slots after the last card are dropped. */
export function fillSlots(before: Slots, keys: readonly string[]): Slots {
  const running = new Set(keys);
  const slots = before.map((key) => (key !== undefined && running.has(key) ? key : undefined));
  const placed = new Set(slots);
  let free = 0;
  for (const key of keys) {
    if (placed.has(key)) continue;
    placed.add(key);
    while (free < slots.length && slots[free] !== undefined) free += 1;
    slots[free] = key;
  }
  while (slots.length > 0 && slots.at(-1) === undefined) slots.pop();
  return slots;
}
