/** Limits that the indexers of one host share. */
import { type HttpApp, shapes } from "sluice/http";
import { WINDOWS_MAX } from "../limits.ts";
import { hostKey } from "../scheduler/limits-of.ts";
import { windowLeft } from "../service/forecast.ts";
import { hostOf } from "../service/indexers.ts";
import type { TorznabService } from "../service/service.ts";
import type { HostRecord } from "../service/shared-limits.ts";
import { hostName, parseHostLimits } from "../settings/host-input.ts";
import { described } from "./schemas.ts";

const { answers, COUNT, DONE, list, MS, object, TEXT } = shapes;

const DURATION = { type: ["string", "number"], description: "Milliseconds, or a text such as 2s." };
const PARAMS = object({ host: { type: "string", maxLength: 255 } }, ["host"]);
const LIMITS = object({
  interval: { ...DURATION, description: "Spacing between the starts of two requests." },
  windows: list(object({ limit: COUNT, per: DURATION }, ["limit", "per"]), {
    maxItems: WINDOWS_MAX,
  }),
  concurrency: { type: "integer", minimum: 1, description: "Requests at once." },
});
const HOST = object(
  {
    host: TEXT,
    source: { type: "string", enum: ["api", "settings"] },
    limits: LIMITS,
    indexers: list(TEXT),
    running: COUNT,
    windows: list(object({ limit: COUNT, per: MS, used: COUNT, left: COUNT })),
  },
  ["host", "limits", "indexers"],
);

const about = (operationId: string, summary: string, more: object) =>
  described({ operationId, summary, tags: ["hosts"], ...more });

interface WithHost {
  Params: { host: string };
}

export function hostRoutes(app: HttpApp, service: TorznabService): void {
  const { hosts } = service.parts;
  const all = about("listHosts", "Hosts with shared limits", {
    response: answers(object({ hosts: list(HOST) }, ["hosts"])),
  });
  app.get("/hosts", all, async () => ({
    hosts: await Promise.all(hosts.all.map((record) => shown(service, record))),
  }));
  const put = about("setHost", "Set the limits that all indexers of a host share", {
    params: PARAMS,
    body: LIMITS,
    response: answers(HOST),
  });
  app.put<WithHost>("/hosts/:host", put, async ({ params, body }) => {
    const host = hostName("host", params.host);
    return shown(service, await hosts.set({ host, limits: parseHostLimits("limits", body) }));
  });
  const remove = about("removeHost", "Remove the limits of a host", {
    params: PARAMS,
    response: DONE,
  });
  app.delete<WithHost>("/hosts/:host", remove, async ({ params }, reply) => {
    await hosts.remove(hostName("host", params.host));
    return reply.code(204).send();
  });
}

async function shown({ parts }: TorznabService, record: HostRecord) {
  const { inFlight, windows } = await parts.sluice.gate(hostKey(record.host)).info();
  const sharing = parts.indexers.all.filter((indexer) => hostOf(indexer) === record.host);
  return {
    ...record,
    indexers: sharing.map(({ id }) => id),
    running: inFlight,
    windows: windows.map(windowLeft),
  };
}
