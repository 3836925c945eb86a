/** Counters in Prometheus' format. Labels are ids and statuses, never texts from outside. */
import { Counter, Histogram, type Registry } from "prom-client";
import type { HistoryRow } from "./search-history.ts";

export class Metrics {
  readonly #requests: Counter<"indexer" | "kind" | "status">;
  readonly #seconds: Histogram<"indexer" | "kind">;
  readonly #searches: Counter<"priority" | "end">;

  constructor() {
    const registers: Registry[] = [];
    this.#requests = new Counter({
      name: "torznab_requests_total",
      help: "Requests to indexers, by how they ended.",
      labelNames: ["indexer", "kind", "status"],
      registers,
    });
    this.#seconds = new Histogram({
      name: "torznab_request_seconds",
      help: "How long indexers took to answer.",
      labelNames: ["indexer", "kind"],
      buckets: [0.1, 0.3, 1, 3, 10, 30],
      registers,
    });
    this.#searches = new Counter({
      name: "torznab_searches_total",
      help: "Searches of this service, by whether anybody answered.",
      labelNames: ["priority", "end"],
      registers,
    });
  }

  /** From now on the server shows them. */
  showIn(registry: Registry): void {
    registry.registerMetric(this.#requests);
    registry.registerMetric(this.#seconds);
    registry.registerMetric(this.#searches);
  }

  asked({ indexer, kind, status, at, endedAt }: HistoryRow): void {
    this.#requests.inc({ indexer, kind, status });
    this.#seconds.observe({ indexer, kind }, (endedAt - at) / 1_000);
  }

  searched(priority: string, isAnswered: boolean): void {
    this.#searches.inc({ priority, end: isAnswered ? "answered" : "failed" });
  }
}
