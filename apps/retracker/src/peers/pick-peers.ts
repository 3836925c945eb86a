/**
 * Chooses the peers of an answer: local ones first, from a random place on, then those from
 * forwarders. The requester is never among them, neither as itself nor under the address by which a
 * forwarder knows it.
 */
import type { Swarm, Swarms } from "./swarms.ts";

export interface Requester {
  /** Who asks: rows of this client are left out, whatever address they have. */
  readonly peerId: string;
  /** Its compact addresses of the family, 6 or 18 bytes each, which are left out too. */
  readonly own: readonly string[];
}

/** Compact peers from the answers of forwarders, by family. */
export interface Told {
  readonly v4: Buffer;
  readonly v6: Buffer;
}

export const NOTHING_TOLD: Told = { v4: Buffer.alloc(0), v6: Buffer.alloc(0) };

const V4_BYTES = 6;
const V6_BYTES = 18;
const scratch = Buffer.allocUnsafe(512 * V6_BYTES);

/** At most `want` compact entries of one family. The answer is overwritten by the next call. */
export function pickPeers(
  swarms: Swarms,
  swarm: Swarm,
  told: Told,
  requester: Requester,
  isV4: boolean,
  want: number,
): Buffer {
  const bytes = isV4 ? V4_BYTES : V6_BYTES;
  const end = copyLocal(swarms, swarm, requester.peerId, isV4, want * bytes);
  const more = isV4 ? told.v4 : told.v6;
  const filled = more.length === 0 ? end : copyTold(more, requester.own, bytes, end, want * bytes);
  return scratch.subarray(0, filled);
}

function copyLocal(
  swarms: Swarms,
  swarm: Swarm,
  peerId: string,
  isV4: boolean,
  limit: number,
): number {
  const { rows } = swarms;
  const count = swarms.count(swarm);
  const bytes = isV4 ? V4_BYTES : V6_BYTES;
  let at = 0;
  let place = Math.floor(Math.random() * count);
  for (let i = 0; i < count && at < limit; i++) {
    const row = swarms.member(swarm, place);
    if (!rows.hasPeerId(row, peerId) && rows.copyCompact(row, isV4, scratch, at)) at += bytes;
    if (++place === count) place = 0;
  }
  return at;
}

/** Entries that are there already, or are the requester, are passed over. */
function copyTold(
  told: Buffer,
  own: readonly string[],
  bytes: number,
  from: number,
  limit: number,
): number {
  const seen = new Set<string>(own);
  for (let at = 0; at < from; at += bytes) seen.add(scratch.toString("latin1", at, at + bytes));
  const count = told.length / bytes;
  let place = Math.floor(Math.random() * count);
  let to = from;
  for (let i = 0; i < count && to < limit; i++) {
    const at = place * bytes;
    if (++place === count) place = 0;
    const entry = told.toString("latin1", at, at + bytes);
    if (seen.has(entry)) continue;
    told.copy(scratch, to, at, at + bytes);
    to += bytes;
  }
  return to;
}
