/** The title of the browser's tab: how many tasks wait for a person, and the open page. */
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
