/** The messages of WebTorrent trackers: JSON, with 20 bytes as a text of 20 characters. */
import { NUMWANT_MAX, SCRAPE_HASHES_MAX, WEB_OFFERS_MAX } from "../limits.ts";

export interface WebOffer {
  readonly offer: unknown;
  readonly offerId: unknown;
}

export interface WebAnnounce {
  readonly action: "announce";
  readonly hash: string;
  readonly peerId: string;
  readonly isSeeder: boolean;
  readonly isStopped: boolean;
  readonly isCompleted: boolean;
  readonly offers: readonly WebOffer[];
  readonly answer: { readonly answer: unknown; readonly offerId: unknown; to: string } | undefined;
}

export interface WebScrape {
  readonly action: "scrape";
  readonly hashes: readonly string[];
}

/** What a client sent is wrong; the message is the failure reason. */
export class BadMessage extends Error {}

export function readMessage(text: string): WebAnnounce | WebScrape {
  const fields = parse(text);
  if (fields.action === "scrape") return { action: "scrape", hashes: hashesOf(fields.info_hash) };
  if (fields.action === "announce") return readAnnounce(fields);
  throw new BadMessage("action must be announce or scrape");
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // It is refused below.
  }
  throw new BadMessage("a message must be a JSON object");
}

function readAnnounce(fields: Record<string, unknown>): WebAnnounce {
  const isCompleted = fields.event === "completed";
  return {
    action: "announce",
    hash: twentyBytes("info_hash", fields.info_hash),
    peerId: twentyBytes("peer_id", fields.peer_id),
    isSeeder: isCompleted || fields.left === 0,
    isStopped: fields.event === "stopped",
    isCompleted,
    offers: offersOf(fields),
    answer: isObject(fields.answer)
      ? {
          answer: fields.answer,
          offerId: offerId(fields.offer_id),
          to: twentyBytes("to_peer_id", fields.to_peer_id),
        }
      : undefined,
  };
}

/** Each offer is for one peer, so the number of offers is the number of peers that get one. */
function offersOf({ offers, numwant }: Record<string, unknown>): WebOffer[] {
  if (!Array.isArray(offers)) return [];
  const wanted = typeof numwant === "number" && numwant >= 0 ? numwant : NUMWANT_MAX;
  return offers
    .slice(0, Math.min(wanted, WEB_OFFERS_MAX))
    .filter((one) => isObject(one) && isObject(one.offer))
    .map((one) => ({ offer: one.offer, offerId: offerId(one.offer_id) }));
}

function offerId(value: unknown): unknown {
  if (typeof value === "string" && value.length <= 128) return value;
  throw new BadMessage("offer_id must be a text");
}

function hashesOf(value: unknown): string[] {
  const all = Array.isArray(value) ? value : value === undefined ? [] : [value];
  if (all.length === 0 || all.length > SCRAPE_HASHES_MAX) {
    throw new BadMessage(`a scrape must name 1 to ${SCRAPE_HASHES_MAX} hashes`);
  }
  return all.map((one) => twentyBytes("info_hash", one));
}

function twentyBytes(name: string, value: unknown): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes, one per character.
  if (typeof value === "string" && /^[\x00-\xff]{20}$/s.test(value)) return value;
  throw new BadMessage(`${name} must be 20 characters, one for each byte`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
