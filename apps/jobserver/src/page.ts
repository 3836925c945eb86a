/** The server's page on the dashboard: its tiers, its submitters, the list and what ails it. */
import type { AppPage, AppSection, AppView } from "sluice/http";
import type { JobServer } from "./job-server.ts";

/** A page is for reading: more submitters than this are counted, not shown. */
const SUBMITTERS_SHOWN = 50;

export function page(server: JobServer): AppPage {
  return {
    name: "jobserver",
    title: "Job server",
    view: () => viewOf(server),
    // It offers one action, and only what a page offers is asked of it.
    act: async () => {
      if (server.config.endpoint === undefined) return "There is no endpoint to ask.";
      await server.list.refresh();
      const { last_error, size } = server.list.status;
      return last_error ?? `The list has ${size} ${size === 1 ? "worker" : "workers"}.`;
    },
  };
}

async function viewOf(server: JobServer): Promise<AppView> {
  const report = await server.stats.report();
  const tiers = Object.entries(report.tiers).map(([name, tier]) => [
    name,
    report[`${name}_queue_depth`] ?? 0,
    tier.capacity,
    tier.enqueued,
    tier.started,
    tier.succeeded,
    tier.failed,
    tier.rejected,
    tier.spilled,
    tier.oldest_age_ms === null ? "" : `${Math.round(tier.oldest_age_ms / 1000)} s`,
  ]);
  return {
    sections: [
      {
        kind: "table",
        title: "Tiers",
        columns: [
          "tier",
          "waiting",
          "capacity",
          "enqueued",
          "started",
          "succeeded",
          "failed",
          "rejected",
          "spilled",
          "oldest",
        ],
        rows: tiers,
      },
      await submittersOf(server),
      listOf(server),
    ],
    actions: [{ name: "refresh", title: "Fetch the priority list now" }],
  };
}

async function submittersOf(server: JobServer): Promise<AppSection> {
  const rows: (string | number)[][] = [];
  for await (const { key, tier, waiting, running, received } of server.submitters()) {
    const name = typeof key === "string" ? key : key.join("/");
    rows.push([name || "(no name)", server.tierName(tier), waiting, running, received]);
    if (rows.length === SUBMITTERS_SHOWN) break;
  }
  const columns = ["submitter", "tier", "waiting", "running", "served"];
  return { kind: "table", title: "Submitters", columns, rows };
}

function listOf(server: JobServer): AppSection {
  const { size, source, last_refresh, last_error } = server.list.status;
  return {
    kind: "facts",
    title: "Priority list",
    facts: [
      { label: "workers", value: size },
      { label: "source", value: source },
      { label: "last refresh", value: last_refresh ? { at: Date.parse(last_refresh) } : "never" },
      { label: "last error", value: last_error ?? "none", tone: last_error ? "bad" : "good" },
    ],
  };
}
