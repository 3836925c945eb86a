/** The outbox in PostgreSQL on the dashboard: what waits, and what was refused. */
import type { AppPage, AppSection } from "@sluice/server";
import { deleteRow, outboxStatus, retryRows, withDatabase } from "../outbox.ts";
import { counted, duration } from "../show.ts";

type Facts = Extract<AppSection, { kind: "facts" }>["facts"];

export function outboxPage(url: string): AppPage {
  return {
    name: "outbox",
    title: "Outbox",
    view: async () => {
      const { waiting, oldestSeconds, refused, rows } = await withDatabase(url, outboxStatus);
      const facts: Facts = [
        { label: "Rows that wait", value: waiting },
        { label: "Oldest", value: oldestSeconds === null ? "" : duration(1000 * oldestSeconds) },
        {
          label: "Refused",
          value: refused,
          tone: refused > 0 ? "bad" : "good",
        },
      ];
      const sections: AppSection[] = [
        { kind: "facts", title: "Outbox", facts },
        {
          kind: "table",
          title: "Refused rows",
          columns: ["row", "queue", "error", "reason"],
          rows: rows.map(({ id, queue, code, message }) => [id, queue, code, message]),
          rowActions: rows.map(({ id }) => [
            { action: "retry", label: "Retry", values: { id } },
            { action: "delete", label: "Delete", values: { id } },
          ]),
        },
      ];
      return { sections, actions: ACTIONS };
    },
    act: async (action, { id = "" }) => {
      if (action !== "delete") {
        const count = await withDatabase(url, (client) => retryRows(client, id || undefined));
        return `${counted(count, "row waits", "rows wait")} again`;
      }
      await withDatabase(url, (client) => deleteRow(client, id));
      return `row ${id} is deleted`;
    },
  };
}

const ACTIONS = [
  {
    name: "retry",
    title: "Retry refused rows",
    fields: [{ name: "id", label: "Row", hint: "empty for all" }],
  },
  {
    name: "delete",
    title: "Delete a row",
    confirm: "Its job is never added.",
    fields: [{ name: "id", label: "Row" }],
  },
];
