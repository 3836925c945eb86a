/**
 * What of a forwarder's answer is handed on to clients. Addresses at which no peer can be are left
 * out. A forwarder of a remote list is a stranger: it may name public addresses only, so that it
 * cannot send clients to services of their own network. One of the operator's own list may be a
 * tracker of that network.
 */
import { COUNT_MAX } from "../limits.ts";
import { isPublic, isUnicast } from "../wire/address.ts";
import type { ForwarderSpec } from "./forwarder-list.ts";
import type { Answered } from "./outcome.ts";

export function believe(answered: Answered, { isPublicOnly }: ForwarderSpec): Answered {
  const isGood = isPublicOnly ? isPublic : isUnicast;
  return {
    ...answered,
    complete: Math.min(answered.complete, COUNT_MAX),
    incomplete: Math.min(answered.incomplete, COUNT_MAX),
    v4: filtered(answered.v4, 6, isGood),
    v6: filtered(answered.v6, 18, isGood),
  };
}

function filtered(entries: Buffer, bytes: number, isGood: (address: string) => boolean): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at < entries.length; at += bytes) {
    const address = entries.toString("latin1", at, at + bytes - 2);
    if (isGood(address)) kept.push(entries.subarray(at, at + bytes));
  }
  return Buffer.concat(kept);
}
