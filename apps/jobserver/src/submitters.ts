/**
 * Who is preferred: which tier a submitter's jobs go to.
 *
 * A submitter is matched by its whole name, or under `host` by the host and port of the URL that
 * its name is, so that `https://10.0.0.1:50035/` and `10.0.0.1:50035` are the same.
 */

export interface Preferred {
  readonly id: string;
  /** Name of a tier; absent: the tier for those on the list. */
  readonly tier?: string | undefined;
}

export type Match = "exact" | "host";

export class Submitters {
  readonly #match: Match;
  readonly #tiers: readonly string[];
  #tierOf = new Map<string, number>();

  constructor(match: Match, tiers: readonly string[]) {
    this.#match = match;
    this.#tiers = tiers;
  }

  get size(): number {
    return this.#tierOf.size;
  }

  /** The tier of those who are on the list without saying which: `fast`, or the first. */
  get usual(): number {
    return Math.max(0, this.#tiers.indexOf("fast"));
  }

  replace(list: readonly Preferred[]): void {
    this.#tierOf = new Map(
      list.map(({ id, tier }) => [
        this.#nameOf(id),
        tier === undefined || !this.#tiers.includes(tier) ? this.usual : this.#tiers.indexOf(tier),
      ]),
    );
  }

  /** The tier of this name; undefined where there is none. */
  tierNamed(name: string): number | undefined {
    const tier = this.#tiers.indexOf(name);
    return tier === -1 ? undefined : tier;
  }

  /** Submitters without a name, and those not on the list, wait in the last tier. */
  tierOf(workerId: string | undefined): number {
    const last = this.#tiers.length - 1;
    if (workerId === undefined) return last;
    return this.#tierOf.get(this.#nameOf(workerId)) ?? last;
  }

  #nameOf(id: string): string {
    return this.#match === "host" ? hostOf(id) : id;
  }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** `host:port` of a URL, or of what becomes one with a scheme; anything else stays as it is. */
export function hostOf(id: string): string {
  const url = id.includes("://") ? URL.parse(id) : URL.parse(`https://${id}`);
  if (url === null || url.hostname === "") return id;
  const port = url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? "") : url.port;
  return port === "" ? url.hostname : `${url.hostname}:${port}`;
}
