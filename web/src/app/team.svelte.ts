/**
 * The people and machines that a team's server knows. On one machine there are none, and nothing is loading about them.
 */
import { api } from '../api/client';

interface TeamNames {
  people: readonly string[];
  machines: readonly string[];
}

const STORE = 'agent-tracer-team';
const NO_TEAM: TeamNames = { people: [], machines: [] };

/** Returns the names of the last visit: what is shown from the start does not move the page when the answer comes. */
function readStored(): TeamNames {
  try {
    return { ...NO_TEAM, ...(JSON.parse(localStorage.getItem(STORE) ?? '{}') as Partial<TeamNames>) };
  } catch {
    return NO_TEAM;
  }
}

export class Team {
  people = $state.raw<readonly string[]>(readStored().people);
  machines = $state.raw<readonly string[]>(readStored().machines);
  private loading: Promise<void> | undefined;

  /** Loads the names once, and again if that failed. */
  load(): Promise<void> {
    this.loading ??= this.fetchNames().catch(() => {
      this.loading = undefined;
    });
    return this.loading;
  }

  /** Whether the server is a team's server. */
  get isKnown(): boolean {
    return this.people.length > 0;
  }

  private async fetchNames(): Promise<void> {
    const { store } = await api.health();
    // Loaded again later: without its store the server does not report its kind.
    if (!store) throw new Error('the store does not answer');
    if (store.kind !== 'clickhouse') return this.store(NO_TEAM);
    const names = async (by: 'owner' | 'machine') =>
      (await api.usage({ by, limit: 500 })).items.map(({ key }) => key).sort((a, b) => a.localeCompare(b));
    const [people, machines] = await Promise.all([names('owner'), names('machine')]);
    this.store({ people, machines });
  }

  private store(known: TeamNames): void {
    ({ people: this.people, machines: this.machines } = known);
    try {
      if (this.isKnown) localStorage.setItem(STORE, JSON.stringify(known));
      else localStorage.removeItem(STORE);
    } catch {
      // Storage may be forbidden; then the names are loaded on each visit.
    }
  }
}

export const team = new Team();
