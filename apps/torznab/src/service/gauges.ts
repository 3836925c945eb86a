/** What the limits of each indexer are like, and what waits: read when Prometheus asks. */
import { Gauge, type Registry } from "prom-client";
import { PRIORITIES } from "../scheduler/priority.ts";
import { budgetOf } from "./forecast.ts";
import type { IndexerRecord } from "./indexers.ts";
import type { TorznabService } from "./service.ts";

const HELP = {
  torznab_indexer_usable: "1: it may be asked; 0: it is paused or its key was refused",
  torznab_indexer_cooldown_seconds: "Time until its cooldown ends",
  torznab_indexer_opens_seconds: "Time until a person's search may go",
  torznab_indexer_budget_left: "Requests left in a window",
  torznab_indexer_budget_limit: "Requests in a window",
  torznab_host_budget_left: "Requests left in a window that the indexers of a host share",
  torznab_host_budget_limit: "Requests in a window that the indexers of a host share",
  torznab_waiting: "Tasks that wait, by priority",
  torznab_running: "Tasks that run",
} as const;

type Name = keyof typeof HELP;
type Label = "indexer" | "host" | "budget" | "per" | "priority";
type Gauges = Readonly<Record<Name, Gauge<Label>>>;

export function addGauges(registry: Registry, service: TorznabService): void {
  let reading: Promise<void> | undefined;
  // All of them are asked for at once, and read together.
  const collect = (): Promise<void> => {
    reading ??= read(gauges, service).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const labelNames: Label[] = ["indexer", "host", "budget", "per", "priority"];
  const gauges = Object.fromEntries(
    Object.entries(HELP).map(([name, help]) => [
      name,
      new Gauge({ name, help, labelNames, registers: [registry], collect }),
    ]),
  ) as Gauges;
}

async function read(gauges: Gauges, service: TorznabService): Promise<void> {
  const { sluice, indexers } = service.parts;
  const { perTier, running } = await (await sluice.queue("search")).stats();
  const budgets = await Promise.all(
    indexers.all.map(async (record) => ({ record, budget: await budgetOf(service, record) })),
  );
  // An indexer that was removed is not shown any more.
  for (const gauge of Object.values(gauges)) gauge.reset();
  gauges.torznab_running.set(running);
  for (const [tier, priority] of PRIORITIES.entries()) {
    gauges.torznab_waiting.set({ priority }, perTier[tier]?.waiting ?? 0);
  }
  for (const { record, budget } of budgets) show(gauges, service, record, budget);
}

function show(
  gauges: Gauges,
  { parts: { clock, indexers } }: TorznabService,
  record: IndexerRecord,
  { windows, grabs, host, nextSlot, cooldown }: Awaited<ReturnType<typeof budgetOf>>,
): void {
  const now = clock.now();
  const indexer = record.id;
  const until = (at: number): number => Math.max(0, at - now) / 1_000;
  const isUsable = indexers.whyNot(record) === undefined;
  gauges.torznab_indexer_usable.set({ indexer }, isUsable ? 1 : 0);
  gauges.torznab_indexer_cooldown_seconds.set({ indexer }, until(cooldown?.until ?? now));
  gauges.torznab_indexer_opens_seconds.set({ indexer }, until(nextSlot.interactive));
  for (const [budget, list] of Object.entries({ query: windows, grab: grabs })) {
    for (const { per, left, limit } of list) {
      const labels = { indexer, budget, per: `${per / 1_000}s` };
      gauges.torznab_indexer_budget_left.set(labels, left);
      gauges.torznab_indexer_budget_limit.set(labels, limit);
    }
  }
  for (const { per, left, limit } of host?.windows ?? []) {
    const labels = { host: host!.name, per: `${per / 1_000}s` };
    gauges.torznab_host_budget_left.set(labels, left);
    gauges.torznab_host_budget_limit.set(labels, limit);
  }
}
