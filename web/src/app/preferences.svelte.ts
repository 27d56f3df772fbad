/**
 * What the reader prefers, kept in this browser.
 */
export type Theme = 'system' | 'dark' | 'light';
export type Wheel = 'zoom' | 'scroll';

const STORE = 'agent-tracer';

interface Kept {
  theme: Theme;
  wheel: Wheel;
  fold: boolean;
}

const DEFAULTS: Kept = { theme: 'system', wheel: 'zoom', fold: true };

function read(): Kept {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(STORE) ?? '{}') as Partial<Kept>) };
  } catch {
    // Storage may be forbidden or hold something else; then the defaults hold for this visit.
    return DEFAULTS;
  }
}

class Preferences {
  theme = $state<Theme>('system');
  wheel = $state<Wheel>('zoom');
  fold = $state(true);
  private system = $state<'dark' | 'light'>('dark');

  constructor() {
    const kept = read();
    this.theme = kept.theme;
    this.wheel = kept.wheel;
    this.fold = kept.fold;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    this.system = dark.matches ? 'dark' : 'light';
    dark.addEventListener('change', () => {
      this.system = dark.matches ? 'dark' : 'light';
      this.show();
    });
    this.show();
  }

  /** The colours in use. */
  get shade(): 'dark' | 'light' {
    return this.theme === 'system' ? this.system : this.theme;
  }

  keep(parts: Partial<Kept>): void {
    Object.assign(this, parts);
    try {
      localStorage.setItem(STORE, JSON.stringify({ theme: this.theme, wheel: this.wheel, fold: this.fold }));
    } catch {
      // Kept for this visit only.
    }
    this.show();
  }

  private show(): void {
    document.documentElement.dataset['theme'] = this.shade;
  }
}

export const preferences = new Preferences();

export const reducedMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
