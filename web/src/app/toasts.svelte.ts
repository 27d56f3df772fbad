/** Short messages that disappear after a few seconds. */
export interface Toast {
  id: number;
  text: string;
  kind: 'info' | 'error';
}

class Toasts {
  shown = $state.raw<Toast[]>([]);
  private next = 1;

  say(text: string, kind: Toast['kind'] = 'info'): void {
    const toast = { id: this.next++, text, kind };
    this.shown = [...this.shown.slice(-3), toast];
    setTimeout(() => this.drop(toast.id), kind === 'error' ? 8000 : 2600);
  }

  drop(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }

  async copy(text: string, what = 'Copied'): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(what);
    } catch {
      this.say('The browser blocked copying', 'error');
    }
  }
}

export const toasts = new Toasts();
