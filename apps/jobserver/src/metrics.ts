/** The metrics for Prometheus, read from the server's counts on request. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { JobServer } from "./job-server.ts";

const COUNTERS = ["enqueued", "started", "succeeded", "failed", "rejected", "spilled"] as const;

/** Seconds that jobs wait or run, from a moment to a day. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600, 24 * 3600];

export function addMetrics(registry: Registry, server: JobServer): void {
  const { stats, list, news } = server;
  addTimes(registry, server);
  new Gauge({
    name: "jobserver_running",
    help: "Jobs that run",
    registers: [registry],
    collect() {
      this.set(news.running);
    },
  });
  new Gauge({
    name: "jobserver_priority_list_age_seconds",
    help: "Time since the priority list was fetched; -1: it was not fetched yet",
    registers: [registry],
    collect() {
      const { last_refresh } = list.status;
      const ageMs = last_refresh === null ? -1000 : stats.now() - Date.parse(last_refresh);
      this.set(ageMs / 1000);
    },
  });
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

function addTimes(registry: Registry, server: JobServer): void {
  const labelNames = ["tier", "type"] as const;
  const times = { labelNames, buckets: BUCKETS, registers: [registry] };
  const waited = new Histogram({
    name: "jobserver_wait_seconds",
    help: "Time from a job's submission to its start, by tier and type",
    ...times,
  });
  const ran = new Histogram({
    name: "jobserver_run_seconds",
    help: "Time from a job's start to its end, by tier and type",
    ...times,
  });
  const timeouts = new Counter({
    name: "jobserver_timeouts_total",
    help: "Jobs that ran out of time, by tier and type, since the server started",
    labelNames,
    registers: [registry],
  });
  server.news.listen(({ status, submission, tier: place, tookMs }) => {
    if (tookMs === undefined) return;
    const labels = { tier: server.tierName(place), type: submission.type };
    if (status === "running") waited.observe(labels, tookMs / 1000);
    else ran.observe(labels, tookMs / 1000);
    if (status === "timeout") timeouts.inc(labels);
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
