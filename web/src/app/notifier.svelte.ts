/**
 * Notifications of the browser about new requests, if the reader has switched them on. They hold what the page holds
 * and leave the machine no more than the page does: the browser shows them itself.
 */
import type { Attention } from '../api/types';
import { escapeLine } from '../text/escape';
import { humanize } from '../text/format';
import { preferences } from './preferences.svelte';
import { router, taskUrl } from './router.svelte';

const keyOf = ({ taskId, owner, rowId }: Attention) => `${owner ?? ''} ${taskId} ${rowId ?? ''}`;

class Notifier {
  /** True if the browser can show notifications and the reader has not refused them. */
  isPossible = $state(typeof Notification !== 'undefined' && Notification.permission !== 'denied');
  private known: ReadonlySet<string> | undefined;

  /** Switches notifications on or off; the browser asks the reader the first time. */
  async toggle(): Promise<void> {
    if (preferences.notify) return preferences.update({ notify: false });
    const answer =
      Notification.permission === 'default' ? await Notification.requestPermission() : Notification.permission;
    this.isPossible = answer !== 'denied';
    preferences.update({ notify: answer === 'granted' });
  }

  /** Takes the open requests; each new one is shown once, and only while the page is not in sight. */
  take(requests: readonly Attention[]): void {
    const before = this.known;
    this.known = new Set(requests.map(keyOf));
    // What was open when the page was opened is no news.
    if (!before || !preferences.notify || !this.isPossible || !document.hidden) return;
    for (const request of requests) if (!before.has(keyOf(request))) this.show(request);
  }

  private show(request: Attention): void {
    const shown = new Notification(`${humanize(request.reason)}: ${escapeLine(request.title, 80)}`, {
      body: escapeLine(request.text ?? '', 160),
      tag: keyOf(request),
    });
    shown.onclick = () => {
      window.focus();
      router.go(taskUrl(request.taskId, { owner: request.owner, event: request.rowId }));
    };
  }
}

export const notifier = new Notifier();
