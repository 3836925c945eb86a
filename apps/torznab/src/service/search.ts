/** One search of the service, while it runs and for a while after. */
import type { SearchQuery } from "../client/query.ts";
import { PAGE_ITEMS_USUAL } from "../limits.ts";
import { Fault } from "../scheduler/fault.ts";
import { type More, type Outcome, RateLimitWaitError, type Status } from "../scheduler/outcome.ts";
import type { Priority } from "../scheduler/priority.ts";
import type { Found } from "./found.ts";
import { type Merged, mergeLists } from "./merge.ts";
import type { PageWanted } from "./pages.ts";

export interface Report {
  readonly indexer: string;
  readonly name: string;
  readonly status: Status | "waiting";
  readonly count: number;
  readonly cached?: true;
  /** Only the first of its releases outlived a restart of the service. */
  readonly cut?: true;
  /** It has at least this many releases that were not fetched. */
  readonly more?: More;
  readonly error?: string;
  /** When its limits let it be asked again. */
  readonly retryAfterMs?: number;
}

export type SearchEvent =
  | { readonly event: "indexer"; readonly report: Report; readonly releases: readonly Found[] }
  | { readonly event: "done" };

/** Why nothing answered: the real failure where there is one, rather than the wait. */
export interface Failure {
  readonly kind: "failed" | "limited" | "stopped" | "skipped";
  readonly text: string;
  readonly retryAfterMs: number;
}

export interface SearchFacts {
  readonly query: SearchQuery;
  readonly priority: Priority;
  readonly createdAt: number;
  readonly deadline: number;
  readonly indexers: readonly { readonly id: string; readonly name: string }[];
  readonly durable: boolean;
  /** Absent: the first page of each indexer, whole. */
  readonly page?: PageWanted | undefined;
}

/** When no duration is known. */
export const RETRY_MS = 15_000;

export class Search {
  id = "";
  /** Those that were left to the scheduler; the others were settled at once. */
  asked: readonly string[] = [];
  readonly facts: SearchFacts;
  readonly done: Promise<void>;
  /** How many callers wait for it. When the last one leaves, the search is cancelled. */
  watchers = 0;
  /** Aborted when it is given up: that also ends the requests for further pages. */
  readonly ending = new AbortController();
  readonly #reports = new Map<string, Report>();
  readonly #found = new Map<string, readonly Found[]>();
  readonly #listeners = new Set<(event: SearchEvent) => void>();
  #isDone = false;
  #resolve: () => void;

  constructor(facts: SearchFacts) {
    this.facts = facts;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.#resolve = resolve;
    for (const { id, name } of facts.indexers) {
      this.#reports.set(id, { indexer: id, name, status: "waiting", count: 0 });
    }
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get reports(): readonly Report[] {
    return [...this.#reports.values()];
  }

  nameOf(indexer: string): string {
    return this.#reports.get(indexer)?.name ?? indexer;
  }

  /** Releases that it holds. */
  get size(): number {
    return [...this.#found.values()].reduce((sum, { length }) => sum + length, 0);
  }

  releases(): Merged[] {
    return mergeLists([...this.#found.values()], PAGE_ITEMS_USUAL);
  }

  /** The releases of the page that was asked for, and how many there are at least. */
  page(): { releases: Merged[]; total: number } {
    const all = this.releases();
    const beyond = this.reports.reduce((sum, { more }) => sum + (more?.count ?? 0), 0);
    const { offset, limit } = this.facts.page ?? { offset: 0, limit: all.length };
    return { releases: all.slice(offset, offset + limit), total: all.length + beyond };
  }

  settle(
    id: string,
    outcome: Outcome<Found>,
    { isCached = false, retryAfterMs = 0 }: { isCached?: boolean; retryAfterMs?: number } = {},
  ): void {
    const { status, results, cut, more, error } = outcome;
    const before = this.#reports.get(id);
    if (before === undefined || before.status !== "waiting") return;
    const report: Report = {
      ...before,
      status,
      count: results.length,
      ...(isCached ? { cached: true as const } : {}),
      ...(cut === undefined ? {} : { cut }),
      ...(more === undefined ? {} : { more }),
      ...(error === undefined ? {} : { error: error.message, ...retryOf(error, retryAfterMs) }),
    };
    this.#reports.set(id, report);
    this.#found.set(id, results);
    this.#tell({ event: "indexer", report, releases: results });
  }

  finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#tell({ event: "done" });
    this.#resolve();
  }

  /** Hears what has happened already, then what happens; the answer ends it. */
  listen(listener: (event: SearchEvent) => void): () => void {
    for (const report of this.reports) {
      if (report.status === "waiting") continue;
      listener({ event: "indexer", report, releases: this.#found.get(report.indexer) ?? [] });
    }
    if (this.#isDone) listener({ event: "done" });
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  isWaitingFor(indexer: string): boolean {
    return this.#reports.get(indexer)?.status === "waiting";
  }

  /** How it ended for one indexer, when it has. */
  ended(indexer: string): Promise<{ report: Report; releases: readonly Found[] }> {
    return new Promise((resolve) => {
      const leave = this.listen((event) => {
        if (event.event !== "indexer" || event.report.indexer !== indexer) return;
        resolve(event);
        queueMicrotask(() => leave());
      });
    });
  }

  /** Undefined when an indexer answered, even without results. */
  failure(): Failure | undefined {
    const reports = this.reports;
    if (reports.some(({ status }) => status === "ok" || status === "empty")) return undefined;
    const failed = reports.find(({ status }) => status === "error" || status === "timeout");
    if (failed !== undefined) return failure("failed", failed, 0);
    const limited = reports.filter(({ status }) => isWait(status));
    if (limited.length > 0) {
      const waits = limited.map(({ retryAfterMs }) => retryAfterMs ?? RETRY_MS);
      return failure("limited", limited[0]!, Math.min(...waits));
    }
    const stopped = reports.find(({ status }) => status === "stopped" || status === "cancelled");
    if (stopped !== undefined) return failure("stopped", stopped, 0);
    const [other] = reports;
    if (other !== undefined) return failure("skipped", other, 0);
    return { kind: "skipped", text: "there is no indexer to ask", retryAfterMs: 0 };
  }

  #tell(event: SearchEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** Another time it may be answered. */
function isWait(status: Report["status"]): boolean {
  return status === "rate_limited" || status === "deduplicated";
}

function retryOf(error: Error, limitsMs: number): { retryAfterMs?: number } {
  const saidMs =
    error instanceof RateLimitWaitError
      ? error.wait
      : error instanceof Fault
        ? error.retryAfterMs
        : 0;
  const retryAfterMs = Math.max(saidMs, limitsMs);
  return retryAfterMs > 0 ? { retryAfterMs } : {};
}

function failure(kind: Failure["kind"], { name, status, error }: Report, retryAfterMs: number) {
  return { kind, text: `${name}: ${error ?? status}`, retryAfterMs };
}
