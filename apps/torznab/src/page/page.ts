/** The service's page in the dashboard: a search, the indexers and their limits, the history. */
import type { AppAction, AppPage, AppRowAction, AppSection, AppValue, AppView } from "sluice/http";
import { activityOf } from "../service/activity.ts";
import { type Budget, budgetOf } from "../service/forecast.ts";
import { hostOf, type IndexerRecord } from "../service/indexers.ts";
import type { TorznabService } from "../service/service.ts";
import { act } from "./actions.ts";
import { ADD_FIELDS, EDIT_FIELDS, HOST_FIELDS, shownHost, shownIndexer } from "./indexer-forms.ts";
import { programActions, sourceSection } from "./programs.ts";
import { searchAction, searchSections, startSearch } from "./search-sections.ts";
import { timelineSections } from "./timelines.ts";

const HISTORY_ROWS = 100;

const ACTIONS: AppAction[] = [
  { name: "add", title: "Add an indexer", verb: "Add and test", fields: ADD_FIELDS },
  { name: "host", title: "Set limits of a host", verb: "Save", fields: HOST_FIELDS },
  { name: "edit", title: "Edit", verb: "Save", isInPlace: true, fields: EDIT_FIELDS },
  { name: "test", title: "Test", verb: "Test", isInPlace: true },
  { name: "pause", title: "Pause", verb: "Pause", isInPlace: true },
  { name: "resume", title: "Resume", verb: "Resume", isInPlace: true },
  {
    name: "reset",
    title: "End the cooldown",
    verb: "End it",
    confirm: "The indexer is asked again at once, and a refused key is tried again.",
    isInPlace: true,
  },
  {
    name: "remove",
    title: "Remove",
    verb: "Remove",
    confirm: "The indexer is removed, with what was used of its limits.",
    isInPlace: true,
  },
  {
    name: "removeHost",
    title: "Remove the limits",
    verb: "Remove",
    confirm: "The indexers of this host share no limits any more.",
    isInPlace: true,
  },
];

/** `base` is the address of the service when the page is shown by another server. */
export function pageOf(service: TorznabService, base = ""): AppPage {
  return {
    name: "torznab",
    title: "Torznab",
    view: (show) => viewOf(service, show, base),
    act: async (action, values) =>
      action === "search" ? startSearch(service, values) : act(service, action, values),
  };
}

async function viewOf(
  service: TorznabService,
  show: string | undefined,
  base: string,
): Promise<AppView> {
  const { indexers } = service.parts;
  const { queued, running, cooling } = await activityOf(service);
  return {
    sections: [
      { kind: "form", title: "Search", action: "search" },
      ...searchSections(service, show, base),
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
      await indexerSection(service),
      ...hostSection(service),
      ...sourceSection(service),
      ...(await timelineSections(service)),
      historySection(service),
    ],
    actions: [searchAction(service), ...ACTIONS, ...programActions(service)],
  };
}

async function indexerSection(service: TorznabService): Promise<AppSection> {
  const drawn = await Promise.all(
    service.parts.indexers.all.map(async (record) => ({
      record,
      budget: await budgetOf(service, record),
    })),
  );
  return {
    kind: "table",
    title: "Indexers",
    columns: ["Indexer", "State", "Left", "Next slot", "Ladder", "Last answer"],
    rows: drawn.map(({ record, budget }) => rowOf(service, record, budget)),
    rowActions: drawn.map(({ record, budget }) => rowActionsOf(record, budget)),
  };
}

function rowOf({ parts }: TorznabService, record: IndexerRecord, budget: Budget): AppValue[] {
  const { clock, indexers, history } = parts;
  const last = history.last(record.id);
  const state = indexers.whyNot(record) ?? budget.cooldown?.reason ?? "open";
  const answer = last === undefined ? "none yet" : `${last.status} ${last.error ?? ""}`.trim();
  const { windows, nextSlot, ladderStep } = budget;
  const left = windows.map((window) => `${window.left} of ${window.limit}`).join(", ");
  const slot = nextSlot.interactive <= clock.now() ? "now" : { at: nextSlot.interactive };
  return [record.name, state, left || "no window set", slot, ladderStep, answer];
}

/** What the settings file describes is changed there. */
function rowActionsOf(record: IndexerRecord, { cooldown }: Budget): AppRowAction[] {
  const { id: indexer, name: title, enabled, source, refusedBecause } = record;
  const isLeftAlone = cooldown !== undefined || refusedBecause !== undefined;
  const isOurs = source === "api";
  const button = (action: string, label: string, more: Record<string, string> = {}) => ({
    action,
    label,
    values: { ...more, indexer, title },
  });
  return [
    ...(isOurs ? [button("edit", "Edit", shownIndexer(record))] : []),
    button("test", "Test"),
    enabled ? button("pause", "Pause") : button("resume", "Resume"),
    ...(isLeftAlone ? [button("reset", "End cooldown")] : []),
    ...(isOurs ? [button("remove", "Remove")] : []),
  ];
}

function hostSection({ parts: { hosts, indexers } }: TorznabService): AppSection[] {
  if (hosts.all.length === 0) return [];
  const sharing = (host: string) => indexers.all.filter((one) => hostOf(one) === host);
  return [
    {
      kind: "table",
      title: "Limits of hosts",
      columns: ["Host", "Interval", "Request limits", "At once", "Indexers"],
      rows: hosts.all.map((record) => {
        const { host, interval, windows, concurrency } = shownHost(record);
        const names = sharing(host).map(({ name }) => name);
        return [host, interval, windows, concurrency, names.join(", ")];
      }),
      rowActions: hosts.all.map((record) => {
        if (record.source !== "api") return [];
        const values = { ...shownHost(record), title: record.host };
        return [
          { action: "host", label: "Edit", values },
          { action: "removeHost", label: "Remove", values },
        ];
      }),
    },
  ];
}

function historySection({ parts: { history } }: TorznabService): AppSection {
  const rows = history
    .rows({ limit: HISTORY_ROWS })
    .map((row) => [
      { at: row.at },
      row.indexer,
      row.what,
      row.status,
      row.count,
      row.endedAt - row.at,
      row.error ?? "",
    ]);
  return {
    kind: "table",
    title: "Latest requests",
    isSortable: true,
    columns: ["Time", "Indexer", "What", "Status", "Results", "ms", "Error"],
    rows,
  };
}
