/**
 * The keyboard: every action has a key, and `?` lists those that work where one is.
 *
 * A binding is one key (`j`, `Shift+ArrowLeft`, `Mod+k`) or two in a row (`g t`). Single keys are
 * inactive while a field has the focus.
 */
import { untrack } from 'svelte';

export interface Binding {
  keys: string;
  label: string;
  group: string;
  run: (event: KeyboardEvent) => void;
  /** Works while a field has the focus too. */
  everywhere?: boolean;
}

/** How a pressed key is written in a binding. */
export function chord(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>): string {
  const key = event.key === ' ' ? 'Space' : event.key;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push('Mod');
  if (event.altKey) parts.push('Alt');
  // The shift of `?` or `N` is in the character already.
  if (event.shiftKey && key.length > 1) parts.push('Shift');
  parts.push(key);
  return parts.join('+');
}

const SEQUENCE_MS = 900;

export class Keys {
  bindings = $state.raw<Binding[]>([]);
  private pending = '';
  private pendingAt = 0;

  /** Adds bindings until the returned function is called. Later ones win over earlier ones. */
  add(bindings: Binding[]): () => void {
    // Pages add their keys inside effects, which must not depend on the keys of other pages.
    untrack(() => (this.bindings = [...this.bindings, ...bindings]));
    return () => untrack(() => (this.bindings = this.bindings.filter((binding) => !bindings.includes(binding))));
  }

  /** How many dialogs are open: while there is one, the page behind it gets no keys. */
  private dialogs = 0;

  /** A dialog takes the keyboard until the returned function is called. */
  enter(): () => void {
    this.dialogs += 1;
    return () => void (this.dialogs -= 1);
  }

  handle(event: KeyboardEvent): boolean {
    if (event.defaultPrevented || event.isComposing) return false;
    const pressed = chord(event);
    const typing = this.dialogs > 0 || isTyping(event.target);
    const sequence = this.pending && event.timeStamp - this.pendingAt < SEQUENCE_MS ? `${this.pending} ${pressed}` : '';
    this.pending = '';
    for (const wanted of [sequence, pressed]) {
      if (!wanted) continue;
      const found = this.bindings.findLast((binding) => binding.keys === wanted && (!typing || binding.everywhere));
      if (found) {
        event.preventDefault();
        found.run(event);
        return true;
      }
    }
    if (!typing && this.bindings.some((binding) => binding.keys.startsWith(`${pressed} `))) {
      this.pending = pressed;
      this.pendingAt = event.timeStamp;
      return true;
    }
    return false;
  }
}

function isTyping(target: EventTarget | null): boolean {
  if (typeof HTMLElement === 'undefined' || !(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches('input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select')
  );
}

export const keys = new Keys();
