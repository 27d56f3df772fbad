/**
 * What the reader prefers, stored in this browser.
 */
export type Theme = 'system' | 'dark' | 'light';
export type Wheel = 'zoom' | 'scroll';

const STORE = 'agent-tracer';

interface StoredPreferences {
  theme: Theme;
  wheel: Wheel;
  fold: boolean;
  /** Whether the browser notifies of new requests. */
  notify: boolean;
}

const DEFAULTS: StoredPreferences = { theme: 'system', wheel: 'zoom', fold: true, notify: false };

function read(): StoredPreferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(STORE) ?? '{}') as Partial<StoredPreferences>) };
  } catch {
    // Storage may be forbidden or hold something else; then the defaults hold for this visit.
    return DEFAULTS;
  }
}

class Preferences {
  theme = $state<Theme>('system');
  wheel = $state<Wheel>('zoom');
  fold = $state(true);
  notify = $state(false);
  private system = $state<'dark' | 'light'>('dark');

  constructor() {
    const stored = read();
    this.theme = stored.theme;
    this.wheel = stored.wheel;
    this.fold = stored.fold;
    this.notify = stored.notify;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    this.system = dark.matches ? 'dark' : 'light';
    dark.addEventListener('change', () => {
      this.system = dark.matches ? 'dark' : 'light';
      this.apply();
    });
    this.apply();
  }

  /** The colours in use. */
  get shade(): 'dark' | 'light' {
    return this.theme === 'system' ? this.system : this.theme;
  }

  update(parts: Partial<StoredPreferences>): void {
    Object.assign(this, parts);
    try {
      localStorage.setItem(
        STORE,
        JSON.stringify({ theme: this.theme, wheel: this.wheel, fold: this.fold, notify: this.notify }),
      );
    } catch {
      // StoredPreferences for this visit only.
    }
    this.apply();
  }

  private apply(): void {
    document.documentElement.dataset['theme'] = this.shade;
  }
}

export const preferences = new Preferences();

export const reducedMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
