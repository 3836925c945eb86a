/** The payload of a job: one announce of one peer to one forwarder. */

import { NUMWANT_MAX } from "../limits.ts";
import { type Announce, type AnnounceEvent, endpointOf } from "../wire/announce.ts";
import { fromHex, toHex } from "../wire/hex.ts";

export interface AnnounceJob {
  readonly forwarder: string;
  readonly hash: string;
  readonly peer: string;
  readonly event: AnnounceEvent;
  readonly address: string;
  readonly port: number;
  /** Decimal: JSON has no 64-bit numbers. */
  readonly uploaded: string;
  readonly downloaded: string;
  readonly left: string;
  readonly key: number;
  /** Deliveries that failed for a passing reason. */
  readonly tries: number;
  /** How often in a row the forwarder asked for a later time. */
  readonly deferrals: number;
  /** What the forwarder calls us, where nothing else remembers it any more. */
  readonly trackerId?: string;
  /** It finds out whether a disabled forwarder works again. */
  readonly isProbe?: true;
}

export function jobOf(announce: Announce, forwarder: string): AnnounceJob {
  return {
    forwarder,
    hash: toHex(announce.hash),
    peer: toHex(announce.peerId),
    event: announce.event,
    address: toHex(announce.address),
    port: announce.port,
    uploaded: String(announce.uploaded),
    downloaded: String(announce.downloaded),
    left: String(announce.left),
    key: announce.key,
    tries: 0,
    deferrals: 0,
  };
}

export function announceOf(job: AnnounceJob): Announce {
  return {
    hash: fromHex(job.hash),
    peerId: fromHex(job.peer),
    address: fromHex(job.address),
    port: job.port,
    uploaded: counterOf(job.uploaded),
    downloaded: counterOf(job.downloaded),
    left: counterOf(job.left),
    event: job.event,
    key: job.key,
    // The answer serves all clients, whatever number of peers this client asked for.
    numwant: NUMWANT_MAX,
  };
}

function counterOf(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** The peer as the registry knows it. */
export function endpointOfJob({ address, port }: AnnounceJob): string {
  return endpointOf({ address: fromHex(address), port });
}

/** A pending mark: hash, forwarder, peer. Events and retries have a mark of their own. */
export function dedupeKey(job: AnnounceJob): string {
  const port = job.port.toString(16).padStart(4, "0");
  const key = `${job.hash}:${job.forwarder}:${job.address}${port}`;
  if (job.event !== 0 && isAside(job)) return `${key}:event${job.event}:${job.tries}`;
  const retries = job.tries + job.deferrals;
  return retries === 0 ? key : `${key}:retry${retries}`;
}

/** `stopped` and `completed` pass the others by; `started` is an announce like any other. */
export function isAside({ event, isProbe }: Pick<AnnounceJob, "event" | "isProbe">): boolean {
  return event === 1 || event === 3 || isProbe === true;
}
