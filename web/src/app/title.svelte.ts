/** What the browser's tab says: how many wait for a person, and what is open. */
class Title {
  /** Tasks that wait for a person. */
  waiting = $state(0);
  /** The open task, by its title. */
  task = $state('');

  text(page: string): string {
    return `${this.waiting > 0 ? `(${this.waiting}) ` : ''}${page} – Agent Tracer`;
  }
}

export const title = new Title();
