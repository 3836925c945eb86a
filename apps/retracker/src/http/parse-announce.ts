/** From the query of `/announce` and `/scrape` to what is asked. */
import { NUMWANT_DEFAULT, NUMWANT_MAX, SCRAPE_HASHES_MAX } from "../limits.ts";
import { packAddress } from "../wire/address.ts";
import {
  type Announce,
  type AnnounceEvent,
  COMPLETED,
  NONE,
  PAUSED,
  STARTED,
  STOPPED,
} from "../wire/announce.ts";
import { eachPair, unescapeBytes, wholeNumber } from "./query.ts";

/** A request that cannot be answered; the message is the failure reason. */
export class BadRequest extends Error {}

export interface HttpAnnounce extends Announce {
  readonly isCompact: boolean;
  readonly noPeerId: boolean;
  /** The address that the client sends. It is used only if the client is in a trusted range. */
  readonly claimedAddress: string | undefined;
  /** The same by family (BEP 7). */
  readonly claimedV4: string | undefined;
  readonly claimedV6: string | undefined;
}

const EVENTS: Readonly<Record<string, AnnounceEvent>> = {
  __proto__: null as never,
  completed: COMPLETED,
  started: STARTED,
  stopped: STOPPED,
  paused: PAUSED,
};

const U64_MAX = 2n ** 64n - 1n;
const HASH_BYTES = 20;

export function parseAnnounce(query: string, address: string): HttpAnnounce {
  const raw = readFields(query);
  return {
    hash: twentyBytes("info_hash", raw.info_hash),
    peerId: twentyBytes("peer_id", raw.peer_id),
    address,
    port: parsePort(raw.port),
    uploaded: counter("uploaded", raw.uploaded),
    downloaded: counter("downloaded", raw.downloaded),
    // Who does not say how much is missing is no seeder.
    left: raw.left === "" ? U64_MAX : counter("left", raw.left),
    event: EVENTS[raw.event] ?? NONE,
    key: parseKey(raw.key),
    numwant: parseNumwant(raw.numwant),
    isCompact: raw.compact !== "0",
    noPeerId: raw.no_peer_id === "1",
    claimedAddress: claimed(raw.ip, 0),
    claimedV4: claimed(raw.ipv4, 4),
    claimedV6: claimed(raw.ipv6, 16),
  };
}

/** An address of so many bytes, 0 for any; a port behind it, as BEP 7 allows, is passed over. */
function claimed(raw: string, bytes: number): string | undefined {
  if (raw === "") return undefined;
  const text = unescapeBytes(raw)?.replace(/^\[(.*)\](?::\d+)?$/, "$1") ?? "";
  const packed = packAddress(text) ?? packAddress(text.replace(/:\d+$/, ""));
  return packed === undefined || (bytes !== 0 && packed.length !== bytes) ? undefined : packed;
}

/** The hashes that are asked for; none means all of them. */
export function parseScrape(query: string): { hashes: string[]; wantsUpstream: boolean } {
  const hashes: string[] = [];
  let wantsUpstream = false;
  eachPair(query, (name, raw) => {
    if (name === "upstream") wantsUpstream = raw === "1";
    if (name === "info_hash") hashes.push(twentyBytes("info_hash", raw));
  });
  if (hashes.length > SCRAPE_HASHES_MAX) {
    throw new BadRequest(`at most ${SCRAPE_HASHES_MAX} hashes a scrape, got ${hashes.length}`);
  }
  return { hashes, wantsUpstream };
}

interface RawFields {
  info_hash: string;
  peer_id: string;
  port: string;
  uploaded: string;
  downloaded: string;
  left: string;
  event: string;
  numwant: string;
  compact: string;
  no_peer_id: string;
  key: string;
  ip: string;
  ipv4: string;
  ipv6: string;
}

/** The first value of each field that we know; one that is repeated or unknown is passed over. */
function readFields(query: string): RawFields {
  const raw: RawFields = {
    info_hash: "",
    peer_id: "",
    port: "",
    uploaded: "",
    downloaded: "",
    left: "",
    event: "",
    numwant: "",
    compact: "",
    no_peer_id: "",
    key: "",
    ip: "",
    ipv4: "",
    ipv6: "",
  };
  let start = 0;
  while (start < query.length) {
    const next = query.indexOf("&", start);
    const end = next === -1 ? query.length : next;
    const equals = query.indexOf("=", start);
    const name = equals === -1 || equals > end ? undefined : nameAt(query, start, equals);
    if (name !== undefined && raw[name] === "") raw[name] = query.slice(equals + 1, end);
    start = end + 1;
  }
  return raw;
}

/** The names that we know, by their length: no text is made only to be compared. */
const NAMES: readonly (readonly (keyof RawFields)[] | undefined)[] = [
  undefined,
  undefined,
  ["ip"],
  ["key"],
  ["port", "left", "ipv4", "ipv6"],
  ["event"],
  undefined,
  ["peer_id", "numwant", "compact"],
  ["uploaded"],
  ["info_hash"],
  ["downloaded", "no_peer_id"],
];

function nameAt(query: string, start: number, end: number): keyof RawFields | undefined {
  const candidates = NAMES[end - start];
  if (candidates === undefined) return undefined;
  for (const name of candidates) if (query.startsWith(name, start)) return name;
  return undefined;
}

function twentyBytes(name: string, raw: string): string {
  if (raw === "") throw new BadRequest(`${name} is missing`);
  const bytes = unescapeBytes(raw);
  if (bytes === undefined) throw new BadRequest(`${name} is not escaped as a URL`);
  if (bytes.length === HASH_BYTES) return bytes;
  throw new BadRequest(`${name} must be ${HASH_BYTES} bytes, got ${bytes.length}`);
}

function parsePort(raw: string): number {
  if (raw === "") throw new BadRequest("port is missing");
  const port = wholeNumber(raw);
  if (port >= 1 && port <= 65535) return port;
  throw new BadRequest(`port must be from 1 to 65535, got ${shown(raw)}`);
}

/** Absent is 0; a client that does not know sends the largest number. */
function counter(name: string, raw: string): number | bigint {
  if (raw === "") return 0;
  const number = wholeNumber(raw);
  if (number !== -1) return number;
  if (/^\d{1,40}$/.test(raw)) {
    const value = BigInt(raw);
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    if (value <= U64_MAX) return value;
  }
  throw new BadRequest(`${name} must be an unsigned 64-bit number, got ${shown(raw)}`);
}

function parseNumwant(raw: string): number {
  if (raw === "" || /^-\d+$/.test(raw)) return NUMWANT_DEFAULT;
  const number = wholeNumber(raw);
  if (number !== -1) return Math.min(number, NUMWANT_MAX);
  if (/^\d+$/.test(raw)) return NUMWANT_MAX;
  throw new BadRequest(`numwant must be a whole number, got ${shown(raw)}`);
}

/** Clients send eight hex digits by habit; any other text is taken by its hash. */
function parseKey(raw: string): number {
  if (raw === "") return 0;
  if (/^[0-9a-fA-F]{1,8}$/.test(raw)) return Number.parseInt(raw, 16);
  let hash = 0;
  for (let i = 0; i < raw.length; i++) hash = (Math.imul(hash, 31) + raw.charCodeAt(i)) >>> 0;
  return hash;
}

/** What came, short and without anything that a terminal would obey. */
function shown(raw: string): string {
  return JSON.stringify(raw.length > 40 ? `${raw.slice(0, 40)}...` : raw);
}
