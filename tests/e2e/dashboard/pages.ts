// Every page of the dashboard over the scene and the demo, with a text that shows it is there.

import type { Scene } from "./scene.ts";

export type PageRow = readonly [name: string, path: string, ready: string];

export function pages({ failedId, flowId, stepsId }: Scene): readonly PageRow[] {
  return [
    ["overview", "#/", "reports"],
    ["queue", "#/queues/mail", "noisy"],
    ["jobs", "#/queues/mail/jobs", '{"to":'],
    ["queue-workers", "#/queues/mail/workers", "process"],
    ["settings", "#/queues/mail/settings", "Tier order"],
    ["find", "#/jobs?state=dead", "dead"],
    ["failures", "#/failures", "it answered # again"],
    ["schedules", "#/schedules", "orders-to-s3"],
    ["schedule", "#/schedules/exports/orders-to-s3", "Next runs"],
    ["gates", "#/gates", "provider:slow"],
    ["workers", "#/workers", "process"],
    ["events", "#/events", "attempt 0"],
    ["webhooks", "#/webhooks", "pager"],
    ["audit", "#/audit", "purge"],
    ["config", "#/config", "limits"],
    ["job", `#/jobs/${failedId}`, "added"],
    ["steps", `#/jobs/${stepsId}`, "waits for its signal"],
    ["flow", `#/jobs/${flowId}/flow`, "Flow of job"],
    ["group", "#/groups/albums/spring", "Members"],
  ];
}
