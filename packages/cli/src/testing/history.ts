// What the clients of a cluster were told, and whether it fits together: nothing that was confirmed
// is lost, nothing that is finished is delivered again, no job is with two workers while the lease
// of the first lives, no two jobs have one name or one id, and no gate lets through more than it
// may.

export interface Delivery {
  readonly id: string;
  readonly lease: string;
  // What the job says of itself: it is another one for every job.
  readonly name: string;
  readonly gate: string | undefined;
  readonly at: number;
  // Its lease lives until then at least, by the same clock as `at`.
  readonly until: number;
}

interface GateBook {
  readonly concurrency: number | undefined;
  readonly rate: { readonly perSecond: number; readonly burst: number } | undefined;
  running: number;
  most: number;
  readonly arrivals: number[];
}

export type GateRule = Partial<Pick<GateBook, "concurrency" | "rate">>;

// Jobs that went out apart may arrive together, when the way between was held up.
const RATE_SLACK_MS = 1_000;
const RATE_WINDOW_MS = 5_000;

export class ClusterHistory {
  readonly failures: string[] = [];
  readonly #idOf = new Map<string, string>();
  readonly #nameOf = new Map<string, string>();
  readonly #confirmed = new Set<string>();
  readonly #finished = new Set<string>();
  // Those too that were seen finished, while the answer to whoever finished them was under way.
  readonly #over = new Set<string>();
  readonly #leases = new Set<string>();
  // Jobs that somebody works on.
  readonly #held = new Map<string, Delivery>();
  readonly #gates = new Map<string, GateBook>();
  deliveries = 0;
  refused = 0;

  rule(gate: string, { concurrency, rate }: GateRule): void {
    this.#gates.set(gate, { concurrency, rate, running: 0, most: 0, arrivals: [] });
  }

  get confirmed(): number {
    return this.#confirmed.size;
  }

  get finishedCount(): number {
    return this.#over.size;
  }

  mostAt(gate: string): number {
    return this.#gates.get(gate)?.most ?? 0;
  }

  added(name: string, id: string): void {
    this.#note(name, id);
    this.#confirmed.add(id);
  }

  delivered(delivery: Delivery): void {
    const { id, lease, name, gate, at } = delivery;
    this.deliveries++;
    const held = this.#held.get(id);
    if (held !== undefined && at < held.until) {
      const leftMs = Math.round(held.until - at);
      this.fail(`${name} (${id}) is with two workers, the first has it for ${leftMs} ms more`);
    }
    this.#held.set(id, delivery);
    if (this.#leases.has(lease)) this.fail(`lease ${lease} was delivered twice`);
    this.#leases.add(lease);
    if (this.#over.has(id)) this.fail(`${name} (${id}) was delivered after it was finished`);
    this.#note(name, id);
    const book = gate === undefined ? undefined : this.#gates.get(gate);
    if (book === undefined) return;
    book.arrivals.push(at);
    book.most = Math.max(book.most, ++book.running);
    if (book.running > (book.concurrency ?? Number.POSITIVE_INFINITY)) {
      this.fail(`${book.running} jobs of ${gate} run at once`);
    }
  }

  // The worker is done, before anybody is told so.
  worked({ id, lease, gate }: Delivery): void {
    if (this.#held.get(id)?.lease === lease) this.#held.delete(id);
    const book = gate === undefined ? undefined : this.#gates.get(gate);
    if (book !== undefined) book.running--;
  }

  // The broker has confirmed the end.
  finished(id: string): void {
    if (this.#finished.has(id)) this.fail(`${id} was finished twice`);
    this.#finished.add(id);
    this.#over.add(id);
  }

  // It has come to its end, though nobody was told so.
  over(id: string): void {
    this.#over.add(id);
  }

  // Confirmed, and not known to be finished.
  get open(): string[] {
    return [...this.#confirmed].filter((id) => !this.#over.has(id));
  }

  judge(): void {
    for (const [gate, { rate, arrivals }] of this.#gates) {
      if (rate === undefined) continue;
      const most = rate.burst + (rate.perSecond * (RATE_WINDOW_MS + RATE_SLACK_MS)) / 1_000;
      const sorted = arrivals.toSorted((a, b) => a - b);
      let from = 0;
      for (const [i, at] of sorted.entries()) {
        while (sorted[from]! <= at - RATE_WINDOW_MS) from++;
        const count = i - from + 1;
        if (count > most) this.fail(`${count} jobs of ${gate} came in ${RATE_WINDOW_MS} ms`);
      }
    }
    for (const id of this.open) this.fail(`${this.#nameOf.get(id)} (${id}) was lost`);
  }

  fail(what: string): void {
    this.failures.push(what);
  }

  #note(name: string, id: string): void {
    const known = this.#idOf.get(name);
    if (known !== undefined && known !== id) this.fail(`${name} is both ${known} and ${id}`);
    this.#idOf.set(name, id);
    const other = this.#nameOf.get(id);
    if (other !== undefined && other !== name) this.fail(`${id} is both ${other} and ${name}`);
    this.#nameOf.set(id, name);
  }
}
