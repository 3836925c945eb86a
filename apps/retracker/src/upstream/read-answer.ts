/** From the bencoded answer of a tracker to an outcome. Both forms of peers are taken. */
import {
  CACHED_PEERS_MAX,
  INTERVAL_SECONDS_MAX,
  INTERVAL_SECONDS_MIN,
  TRACKER_ID_BYTES_MAX,
} from "../limits.ts";
import { packAddress } from "../wire/address.ts";
import { type Bencoded, BencodeError, bytesAt, decode, numberAt } from "../wire/bencode.ts";
import { type Outcome, shorten } from "./outcome.ts";

const INTERVAL_SECONDS_DEFAULT = 1800;

export function readAnswer(body: Buffer): Outcome {
  try {
    const value = decode(body);
    if (!(value instanceof Map)) return failed("the answer is not a bencoded dictionary");
    const failure = value.get("failure reason");
    return failure === undefined ? answered(value) : refused(value, failure);
  } catch (error) {
    if (!(error instanceof BencodeError)) throw error;
    return failed(`the answer is not bencoded: ${error.message}`);
  }
}

function failed(reason: string): Outcome {
  return { kind: "failed", reason: shorten(reason) };
}

/** BEP 31 gives minutes as a number; its own example as a text. Anything else is no wish. */
function refused(value: ReadonlyMap<string, Bencoded>, failure: Bencoded): Outcome {
  const said = Buffer.isBuffer(failure) ? shorten(failure.toString("utf8")) : "no reason given";
  const wish = value.get("retry in");
  const text = Buffer.isBuffer(wish) ? wish.toString("latin1", 0, 16) : String(wish);
  if (text === "never") return { kind: "never", reason: said };
  const minutes = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0;
  return minutes === 0 ? failed(said) : { kind: "later", minutes, reason: said };
}

function answered(value: ReadonlyMap<string, Bencoded>): Outcome {
  const peers = value.get("peers");
  const dictionaries = Array.isArray(peers) ? packAll(peers) : undefined;
  const trackerId = bytesAt(value, "tracker id");
  const external = bytesAt(value, "external ip")?.toString("latin1");
  return {
    kind: "answer",
    intervalSeconds: intervalOf(value),
    complete: countAt(value, "complete"),
    incomplete: countAt(value, "incomplete"),
    v4: dictionaries?.v4 ?? entries(Buffer.isBuffer(peers) ? peers : NO_BYTES, 6),
    v6: Buffer.concat([dictionaries?.v6 ?? NO_BYTES, entries(bytesAt(value, "peers6"), 18)]),
    trackerId:
      trackerId !== undefined && trackerId.length <= TRACKER_ID_BYTES_MAX
        ? trackerId.toString("latin1")
        : undefined,
    externalIp: external?.length === 4 || external?.length === 16 ? external : undefined,
  };
}

const NO_BYTES = Buffer.alloc(0);

/** The greater of both intervals: a tracker that names a least one means it. */
function intervalOf(value: ReadonlyMap<string, Bencoded>): number {
  const interval = numberAt(value, "interval") ?? INTERVAL_SECONDS_DEFAULT;
  return boundInterval(Math.max(interval, numberAt(value, "min interval") ?? 0));
}

export function boundInterval(seconds: number): number {
  return Math.min(Math.max(seconds, INTERVAL_SECONDS_MIN), INTERVAL_SECONDS_MAX);
}

function countAt(value: ReadonlyMap<string, Bencoded>, key: string): number {
  return Math.min(Math.max(numberAt(value, key) ?? 0, 0), 0xffffffff);
}

/** Whole entries with a port; what hangs over is cut, what is too much too. */
export function entries(bytes: Buffer = NO_BYTES, size: number): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at + size <= bytes.length && kept.length < CACHED_PEERS_MAX; at += size) {
    const entry = bytes.subarray(at, at + size);
    if (entry[size - 1] !== 0 || entry[size - 2] !== 0) kept.push(entry);
  }
  return Buffer.concat(kept);
}

function packAll(peers: readonly Bencoded[]): { v4: Buffer; v6: Buffer } {
  const v4: Buffer[] = [];
  const v6: Buffer[] = [];
  for (const peer of peers.slice(0, CACHED_PEERS_MAX)) {
    const packed = peer instanceof Map ? packPeer(peer) : undefined;
    if (packed !== undefined) (packed.length === 6 ? v4 : v6).push(packed);
  }
  return { v4: Buffer.concat(v4), v6: Buffer.concat(v6) };
}

/** Names of hosts are not looked up. */
function packPeer(peer: ReadonlyMap<string, Bencoded>): Buffer | undefined {
  const address = packAddress(bytesAt(peer, "ip")?.toString("latin1") ?? "");
  const port = numberAt(peer, "port") ?? 0;
  if (address === undefined || port < 1 || port > 65535) return undefined;
  return Buffer.from(address + String.fromCharCode(port >> 8, port & 0xff), "latin1");
}
