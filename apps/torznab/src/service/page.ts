/** The service's page in the dashboard: indexers as gates, and what they said last. */
import type { AppPage, AppValue, AppView } from "sluice/http";
import { activityOf } from "./activity.ts";
import { budgetOf } from "./forecast.ts";
import type { IndexerRecord } from "./indexers.ts";
import type { TorznabService } from "./service.ts";
import { tryOut } from "./try-out.ts";

const HISTORY_ROWS = 20;
const INDEXER = [{ name: "indexer", label: "Indexer" }];

export function pageOf(service: TorznabService): AppPage {
  return {
    name: "torznab",
    title: "Torznab",
    view: () => viewOf(service),
    act: (action, values) => act(service, action, values.indexer ?? ""),
  };
}

async function viewOf(service: TorznabService): Promise<AppView> {
  const { indexers, history } = service.parts;
  const { queued, running, cooling } = await activityOf(service);
  const rows = await Promise.all(indexers.all.map((record) => rowOf(service, record)));
  return {
    sections: [
      {
        kind: "facts",
        title: "Now",
        facts: [
          { label: "Indexers", value: indexers.all.length },
          { label: "Waiting", value: queued.length },
          { label: "Being asked", value: running.length },
          { label: "Cooling", value: cooling.length, tone: cooling.length > 0 ? "warn" : "good" },
        ],
      },
      {
        kind: "table",
        title: "Indexers",
        columns: ["Indexer", "State", "Left", "Next slot", "Ladder", "Last answer"],
        rows,
      },
      {
        kind: "table",
        title: "Latest requests",
        columns: ["Time", "Indexer", "What", "Status", "Results", "Error"],
        rows: history
          .rows({ limit: HISTORY_ROWS })
          .map((row) => [
            { at: row.at },
            row.indexer,
            row.what,
            row.status,
            row.count,
            row.error ?? "",
          ]),
      },
    ],
    actions: [
      { name: "test", title: "Test an indexer", fields: INDEXER },
      { name: "pause", title: "Pause an indexer", fields: INDEXER },
      { name: "resume", title: "Resume an indexer", fields: INDEXER },
      { name: "reset", title: "End a cooldown", confirm: "Ask it again now?", fields: INDEXER },
    ],
  };
}

async function rowOf(service: TorznabService, record: IndexerRecord): Promise<AppValue[]> {
  const { clock, indexers, history } = service.parts;
  const budget = await budgetOf(service, record);
  const last = history.last(record.id);
  const state = indexers.whyNot(record) ?? budget.cooldown?.reason ?? "open";
  const answer = last === undefined ? "none yet" : `${last.status} ${last.error ?? ""}`.trim();
  const { windows, nextSlot, ladderStep } = budget;
  const left = windows.map((window) => `${window.left} of ${window.limit}`).join(", ");
  const slot = nextSlot.interactive <= clock.now() ? "now" : { at: nextSlot.interactive };
  return [record.name, state, left || "no window set", slot, ladderStep, answer];
}

async function act(service: TorznabService, action: string, id: string): Promise<string> {
  switch (action) {
    case "test": {
      const tried = await tryOut(service, id);
      if (!tried.ok) return `${id} does not answer: ${tried.error}`;
      return `${id} answers as ${tried.title || "an indexer without a title"}`;
    }
    case "pause":
      await service.parts.indexers.change(id, { enabled: false });
      return `${id} is paused`;
    case "resume":
      await service.parts.indexers.change(id, { enabled: true });
      return `${id} is asked again`;
    case "reset":
      await service.reset(id);
      return `${id} may be asked again`;
    default:
      throw new Error(`there is no action ${action.slice(0, 40)}`);
  }
}
