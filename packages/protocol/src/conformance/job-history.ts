/**
 * What clients were answered about jobs, and whether it fits together: no two jobs have one name or
 * one id, no lease is delivered twice, and nothing that is finished is finished or delivered
 * again. For any broker whose jobs tell their own names; a load adds what else it can judge.
 */
export class JobHistory {
  readonly failures: string[] = [];
  deliveries = 0;
  readonly #idOf = new Map<string, string>();
  readonly #nameOf = new Map<string, string>();
  readonly #leases = new Set<string>();
  readonly #finished = new Set<string>();
  readonly #over = new Set<string>();

  /** Jobs that are known. */
  get jobs(): number {
    return this.#idOf.size;
  }

  /** Those of them that have come to their end. */
  get overCount(): number {
    return this.#over.size;
  }

  isOver(id: string): boolean {
    return this.#over.has(id);
  }

  idOf(name: string): string | undefined {
    return this.#idOf.get(name);
  }

  nameOf(id: string): string | undefined {
    return this.#nameOf.get(id);
  }

  /** A job of this name has this id. */
  known(name: string, id: string): void {
    const before = this.#idOf.get(name);
    if (before !== undefined && before !== id) this.fail(`${name} is both ${before} and ${id}`);
    this.#idOf.set(name, id);
    const other = this.#nameOf.get(id);
    if (other !== undefined && other !== name) this.fail(`${id} is both ${other} and ${name}`);
    this.#nameOf.set(id, name);
  }

  leased(name: string, id: string, lease: string): void {
    this.deliveries++;
    if (this.#leases.has(lease)) this.fail(`lease ${lease} was delivered twice`);
    this.#leases.add(lease);
    if (this.#over.has(id)) this.fail(`${name} (${id}) was delivered after it was finished`);
    this.known(name, id);
  }

  /** The broker has confirmed the end. */
  finished(id: string): void {
    if (this.#finished.has(id)) this.fail(`${this.nameOf(id)} (${id}) was finished twice`);
    this.#finished.add(id);
    this.over(id);
  }

  /** It has come to its end, by an answer that did not arrive. */
  over(id: string): void {
    this.#over.add(id);
  }

  fail(what: string): void {
    this.failures.push(what);
  }
}
