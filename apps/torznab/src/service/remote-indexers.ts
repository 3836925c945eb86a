/**
 * The indexers that another program has. Prowlarr: `GET /api/v1/indexer` of its API, in JSON.
 * Jackett: `t=indexers` of its own Torznab, in XML, which needs no more than its key.
 */
import { SluiceError } from "sluice";
import { callOutside } from "sluice/http";
import type { TorznabClient } from "../client/torznab-client.ts";
import { LISTED_INDEXERS_MAX, RESPONSE_BYTES_MAX } from "../limits.ts";

export interface RemoteIndexer {
  /** What the program calls it. */
  readonly key: string;
  readonly name: string;
  readonly url: string;
  readonly kind: "torznab" | "newznab";
  readonly enabled: boolean;
}

const TIMEOUT = "30s";

export async function listProwlarr(base: string, apiKey: string): Promise<RemoteIndexer[]> {
  const rows = await callProgram(base, "/api/v1/indexer", apiKey);
  if (!Array.isArray(rows)) throw callFailed(base, "its answer is not a list of indexers");
  return rows.slice(0, LISTED_INDEXERS_MAX).flatMap((row): RemoteIndexer[] => {
    const { id, name, enable, protocol } = row as Record<string, unknown>;
    if (!Number.isInteger(id) || typeof name !== "string" || name === "") return [];
    const kind = protocol === "usenet" ? "newznab" : "torznab";
    const url = at(base, `/${id}/api`);
    return [{ key: String(id), name: name.slice(0, 100), url, kind, enabled: enable !== false }];
  });
}

export async function listJackett(
  client: TorznabClient,
  base: string,
  apiKey: string,
): Promise<RemoteIndexer[]> {
  const of = (id: string): string => at(base, `/api/v2.0/indexers/${id}/results/torznab/api`);
  const listed = await client.indexers({ url: of("all"), apiKey });
  return listed.slice(0, LISTED_INDEXERS_MAX).map(({ id, title }) => {
    const url = of(encodeURIComponent(id));
    return { key: id, name: title || id, url, kind: "torznab", enabled: true };
  });
}

/** A call to the API of Prowlarr, Sonarr or Radarr; answers what its JSON says. */
export async function callProgram(
  base: string,
  path: string,
  apiKey: string,
  change?: { method: "POST" | "PUT"; body: unknown },
): Promise<unknown> {
  const answer = await callOutside(at(base, path), {
    chooser: "operator",
    timeout: TIMEOUT,
    bytesMax: RESPONSE_BYTES_MAX,
    headers: {
      "x-api-key": apiKey,
      accept: "application/json",
      ...(change === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(change === undefined ? {} : { method: change.method, body: JSON.stringify(change.body) }),
  }).catch((error: Error) => {
    throw callFailed(base, error.message);
  });
  const text = new TextDecoder().decode(answer.body);
  if (answer.status === 401 || answer.status === 403) throw callFailed(base, "it refuses the key");
  if (answer.status >= 300)
    throw callFailed(base, `HTTP ${answer.status} ${problemsIn(text)}`.trim());
  try {
    return JSON.parse(text);
  } catch {
    throw callFailed(base, "its answer is not JSON");
  }
}

/** These programs say what is wrong as a list of `errorMessage`. */
function problemsIn(text: string): string {
  return [...text.matchAll(/"errorMessage":\s*"([^"]{1,200})/g)].map(([, said]) => said).join("; ");
}

function at(base: string, path: string): string {
  const url = new URL(base);
  return `${url.origin}${url.pathname.replace(/\/$/, "")}${path}`;
}

export function callFailed(base: string, why: string): SluiceError {
  const { host } = new URL(base);
  return new SluiceError("CONFLICT", `the call to ${host} failed: ${why}`, {
    field: "url",
  });
}
