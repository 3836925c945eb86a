/** Actions on many jobs: the server does them, and the page shows how far they are. */
import type { BulkAction, BulkInfo, JobFilter } from "@sluice/protocol";
import { at, call, get } from "./api.ts";
import type { Tell } from "./long-work.ts";

export interface BulkRequest {
  action: BulkAction;
  filter: JobFilter;
  /** The queue that the jobs go to. */
  to?: string | undefined;
  /** Instead of their own payload. */
  payload?: unknown;
}

/** How many jobs an action would touch; undefined: only a scan of payloads would tell. */
export async function countBulk(
  request: BulkRequest,
  signal: AbortSignal,
): Promise<number | undefined> {
  const body = { ...request, dryRun: true };
  const { matched } = await call<BulkInfo>("POST", at(["bulk"]), { body, signal });
  return matched;
}

const LOOK_EVERY_MS = 300;

/** Starts an action and follows it to its end; one who leaves stops it. */
export async function runBulk(
  request: BulkRequest,
  tell: Tell,
  signal: AbortSignal,
): Promise<BulkInfo> {
  let info = await call<BulkInfo>("POST", at(["bulk"]), { body: request });
  const address = at(["bulk", info.id]);
  const stop = (): void => void call("POST", at(["bulk", info.id, "stop"])).catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  while (info.state === "running") {
    const done = info.done + info.refused;
    tell({ done, total: Math.max(info.matched ?? 0, done) });
    await new Promise((pass) => setTimeout(pass, LOOK_EVERY_MS));
    if (signal.aborted) break;
    info = await get<BulkInfo>(address);
  }
  signal.removeEventListener("abort", stop);
  return info;
}
