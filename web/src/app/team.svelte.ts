/**
 * The people and machines that a team's server knows. On one machine there are none, and nothing is asked about them.
 */
import { api } from '../api/client';

interface Known {
  people: readonly string[];
  machines: readonly string[];
}

const STORE = 'agent-tracer-team';
const NOBODY: Known = { people: [], machines: [] };

/** Whom this browser knew last: what is there from the beginning does not move the page when the answer comes. */
function remembered(): Known {
  try {
    return { ...NOBODY, ...(JSON.parse(localStorage.getItem(STORE) ?? '{}') as Partial<Known>) };
  } catch {
    return NOBODY;
  }
}

export class Team {
  people = $state.raw<readonly string[]>(remembered().people);
  machines = $state.raw<readonly string[]>(remembered().machines);
  private asked: Promise<void> | undefined;

  /** Learns whom there is: once, and again if that failed. */
  load(): Promise<void> {
    this.asked ??= this.ask().catch(() => {
      this.asked = undefined;
    });
    return this.asked;
  }

  /** Whether a server of many people answers. */
  get known(): boolean {
    return this.people.length > 0;
  }

  private async ask(): Promise<void> {
    const { store } = await api.health();
    // Asked again later: without its store the server does not say whose it is.
    if (!store) throw new Error('the store does not answer');
    if (store.kind !== 'clickhouse') return this.keep(NOBODY);
    const names = async (by: string) =>
      (await api.usage({ by, limit: 500 })).items.map(({ key }) => key).sort((a, b) => a.localeCompare(b));
    const [people, machines] = await Promise.all([names('owner'), names('machine')]);
    this.keep({ people, machines });
  }

  private keep(known: Known): void {
    ({ people: this.people, machines: this.machines } = known);
    try {
      if (this.known) localStorage.setItem(STORE, JSON.stringify(known));
      else localStorage.removeItem(STORE);
    } catch {
      // A browser that keeps nothing asks every time.
    }
  }
}

export const team = new Team();
