// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Attention } from '../api/types';
import { notifier } from './notifier.svelte';
import { preferences } from './preferences.svelte';

const shown: { title: string; body: string }[] = [];
let hidden = true;

class FakeNotification {
  static permission: NotificationPermission = 'default';
  static requestPermission = vi.fn(async () => (FakeNotification.permission = 'granted'));
  onclick: (() => void) | null = null;
  constructor(title: string, options: { body: string }) {
    shown.push({ title, body: options.body });
  }
}

const request = (rowId: string, more: Partial<Attention> = {}) =>
  ({ taskId: 'a', rowId, reason: 'permission', title: 'Mend\u001b[31m', text: 'git push', ...more }) as Attention;

beforeEach(() => {
  shown.length = 0;
  hidden = true;
  vi.stubGlobal('Notification', FakeNotification);
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
  notifier.isPossible = true;
  preferences.update({ notify: true });
});
afterEach(() => vi.restoreAllMocks());

describe('notifications', () => {
  it('are about new requests only, each once, while the page is out of sight', () => {
    notifier.take([request('old')]);
    expect(shown).toEqual([]);
    notifier.take([request('old'), request('new')]);
    notifier.take([request('old'), request('new')]);
    expect(shown.map(({ title }) => title.startsWith('permission: Mend'))).toEqual([true]);
    expect(shown[0]!.title).not.toContain('\u001b');
    hidden = false;
    notifier.take([request('old'), request('new'), request('seen')]);
    hidden = true;
    notifier.take([request('old'), request('new'), request('seen')]);
    expect(shown).toHaveLength(1);
  });

  it('are off until the reader allows them, and stay off if the browser refuses', async () => {
    preferences.update({ notify: false });
    notifier.take([]);
    notifier.take([request('one')]);
    expect(shown).toEqual([]);
    await notifier.toggle();
    expect([preferences.notify, FakeNotification.requestPermission.mock.calls.length]).toEqual([true, 1]);
    await notifier.toggle();
    expect(preferences.notify).toBe(false);
    FakeNotification.permission = 'denied';
    await notifier.toggle();
    expect([preferences.notify, notifier.isPossible]).toEqual([false, false]);
  });
});
