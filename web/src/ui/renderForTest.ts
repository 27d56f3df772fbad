/** Mounts components in tests of components, and removes them after each. */
import { flushSync, mount, unmount, type Component } from 'svelte';

let mounted: Record<string, unknown>[] = [];

/** Mounts a component in a box of its own and returns the box. */
export function render<P extends Record<string, unknown>>(
  component: Component<P>,
  props: P,
  context?: Map<unknown, unknown>,
): HTMLElement {
  const target = document.body.appendChild(document.createElement('div'));
  mounted.push(mount(component, { target, props, context }));
  flushSync();
  return target;
}

export async function removeRendered(): Promise<void> {
  await Promise.all(mounted.map((one) => unmount(one)));
  mounted = [];
  document.body.replaceChildren();
}

/** Presses a key where an element is. */
export function press(target: EventTarget, key: string, more: KeyboardEventInit = {}): void {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
  flushSync();
}

export function click(target: Element | null | undefined): void {
  if (!(target instanceof HTMLElement)) throw new Error('nothing to click');
  target.click();
  flushSync();
}

/** Types a text into a field, as one input. */
export function type(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  flushSync();
}

/** Returns the button with a name, which is its label or its text. */
export function button(box: ParentNode, name: string): HTMLButtonElement {
  const found = [...box.querySelectorAll('button')].find(
    (one) => (one.getAttribute('aria-label') ?? one.textContent.trim()) === name,
  );
  if (!found) throw new Error(`no button \`${name}\``);
  return found;
}
