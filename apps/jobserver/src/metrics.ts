/** The metrics for Prometheus, read from the server's counts on request. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { JobServer } from "./job-server.ts";

const COUNTERS = ["enqueued", "started", "succeeded", "failed", "rejected", "spilled"] as const;

export function addMetrics(registry: Registry, { stats, list }: JobServer): void {
  for (const name of COUNTERS) {
    new Counter({
      name: `jobserver_${name}_total`,
      help: `Jobs ${name}, by tier, since the server started`,
      labelNames: ["tier"],
      registers: [registry],
      collect() {
        this.reset();
        for (const book of stats.books) {
          this.inc({ tier: book.name }, book[name]);
        }
      },
    });
  }
  perTier(registry, "jobserver_waiting", "Jobs that wait, by tier", async (set) => {
    const depths = await stats.depths();
    for (const [tier, { name }] of stats.books.entries()) set(name, depths[tier]!);
  });
  perTier(registry, "jobserver_capacity", "Jobs that may wait, by tier", async (set) => {
    for (const { name, capacity } of stats.sizes) set(name, capacity);
  });
  perTier(registry, "jobserver_oldest_seconds", "Age of the oldest that waits", async (set) => {
    const now = stats.now();
    for (const book of stats.books) set(book.name, (book.stats(now).oldest_age_ms ?? 0) / 1000);
  });
  new Gauge({
    name: "jobserver_priority_workers",
    help: "Submitters on the priority list",
    registers: [registry],
    collect() {
      this.set(list.status.size);
    },
  });
}

function perTier(
  registry: Registry,
  name: string,
  help: string,
  read: (set: (tier: string, value: number) => void) => Promise<void>,
): void {
  new Gauge({
    name,
    help,
    labelNames: ["tier"],
    registers: [registry],
    collect() {
      return read((tier, value) => this.set({ tier }, value));
    },
  });
}
