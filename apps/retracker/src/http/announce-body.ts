/** The bencoded answers of the tracker, one character per byte. */
import { type Accepted, isRefused, type Tracker } from "../tracker.ts";
import { isPublic, showAddress } from "../wire/address.ts";
import { addressOf, portOf, type Refused, type ScrapeCounts } from "../wire/announce.ts";
import { type Bencodable, encode } from "../wire/bencode.ts";
import { bytesOf } from "./response.ts";

export function failureBody({ failure, retryInMinutes }: Refused): string {
  const fields = new Map<string, Bencodable>([["failure reason", Buffer.from(failure)]]);
  if (retryInMinutes !== undefined) fields.set("retry in", retryInMinutes);
  return written(fields);
}

function written(fields: ReadonlyMap<string, Bencodable>): string {
  return encode(fields).toString("latin1");
}

export interface Form {
  readonly isCompact: boolean;
  readonly noPeerId: boolean;
  /** Where the request came from, for BEP 24. */
  readonly from: string;
  readonly trackerId: string;
}

export function announceBody(tracker: Tracker, answer: Accepted | Refused, form: Form): string {
  if (isRefused(answer)) return failureBody(answer);
  const want = answer.announce.numwant;
  const v4 = tracker.peers(answer, true, want).toString("latin1");
  const v6 = tracker.peers(answer, false, want - v4.length / 6).toString("latin1");
  if (form.isCompact) return compactBody(tracker, answer, form, v4, v6);
  const peers = [...split(v4, 6), ...split(v6, 18)].map((entry) =>
    dictionaryOf(tracker, answer, entry, form.noPeerId),
  );
  return written(
    new Map<string, Bencodable>([
      ["complete", answer.complete],
      ["incomplete", answer.incomplete],
      ["interval", tracker.intervalOf(answer.announce)],
      ["min interval", tracker.intervalSeconds],
      ["peers", peers],
      ...(isPublic(form.from) ? [["external ip", form.from] as const] : []),
      ...(form.trackerId === "" ? [] : [["tracker id", Buffer.from(form.trackerId)] as const]),
    ]),
  );
}

/** Written by hand: this is what nearly every request gets. Keys are in their order. */
function compactBody(
  tracker: Tracker,
  { announce, complete, incomplete }: Accepted,
  { from, trackerId }: Form,
  v4: string,
  v6: string,
): string {
  const interval = tracker.intervalOf(announce);
  const external = isPublic(from) ? `11:external ip${from.length}:${from}` : "";
  const peers6 = v6 === "" ? "" : `6:peers6${v6.length}:${v6}`;
  return (
    `d8:completei${complete}e${external}10:incompletei${incomplete}e` +
    `8:intervali${interval}e12:min intervali${tracker.intervalSeconds}e5:peers${v4.length}:${v4}${peers6}` +
    `${trackerId === "" ? "" : idField(trackerId)}e`
  );
}

function idField(trackerId: string): string {
  const bytes = bytesOf(trackerId);
  return `10:tracker id${bytes.length}:${bytes}`;
}

function split(entries: string, bytes: number): string[] {
  const all: string[] = [];
  for (let at = 0; at < entries.length; at += bytes) all.push(entries.slice(at, at + bytes));
  return all;
}

/** The id of a peer from a forwarder is unknown, so its entry has none. */
function dictionaryOf(
  tracker: Tracker,
  { announce }: Accepted,
  entry: string,
  noPeerId: boolean,
): Bencodable {
  const peer = new Map<string, Bencodable>([
    ["ip", showAddress(addressOf(entry))],
    ["port", portOf(entry)],
  ]);
  const id = noPeerId ? undefined : tracker.peerIdAt(announce.hash, entry);
  if (id !== undefined) peer.set("peer id", id);
  return peer;
}

export function scrapeBody(counts: ReadonlyMap<string, ScrapeCounts>): string {
  const files = new Map<string, Bencodable>();
  for (const [hash, { complete, downloaded, incomplete, downloaders }] of counts) {
    files.set(
      hash,
      new Map([
        ["complete", complete],
        ["downloaded", downloaded],
        // Only where it says something new.
        ...(downloaders === incomplete ? [] : [["downloaders", downloaders] as const]),
        ["incomplete", incomplete],
      ]),
    );
  }
  return written(new Map([["files", files]]));
}
