/** An announce to a forwarder over HTTP or HTTPS. */
import { RetryAfter } from "sluice";
import { MARK_HEADER } from "../http/head.ts";
import { escapeBytes } from "../http/query.ts";
import { ANSWER_BYTES_MAX, RETRY_AFTER_MS_MAX } from "../limits.ts";
import { type Announce, EVENT_NAMES } from "../wire/announce.ts";
import type { ForwarderSpec } from "./forwarder-list.ts";
import { call, type HttpAnswer } from "./http-call.ts";
import { type Outcome, ofError, shorten } from "./outcome.ts";
import { readAnswer } from "./read-answer.ts";

export interface Sending {
  readonly spec: ForwarderSpec;
  readonly announce: Announce;
  /** What the forwarder called us when it answered last. */
  readonly trackerId: string | undefined;
  readonly ownPorts: ReadonlySet<number>;
  /** Marks our requests, so that we recognise them if they return to us. */
  readonly instance: string;
  readonly signal: AbortSignal;
}

const USER_AGENT = "sluice-retracker";

export async function announceOverHttp(sending: Sending): Promise<Outcome> {
  const { spec, signal, ownPorts } = sending;
  const headers = {
    "user-agent": USER_AGENT,
    accept: "*/*",
    "accept-encoding": "identity",
    connection: "close",
    [MARK_HEADER]: sending.instance,
    ...(spec.host === undefined ? {} : { host: spec.host }),
  };
  try {
    const url = announceUrl(sending);
    const bytesMax = ANSWER_BYTES_MAX;
    const { proxy, isPublicOnly } = spec;
    return judge(await call({ url, headers, proxy, isPublicOnly, bytesMax, ownPorts, signal }));
  } catch (error) {
    return ofError(error);
  }
}

function announceUrl({ spec, announce, trackerId }: Sending): string {
  const event = EVENT_NAMES[announce.event];
  const [bare = ""] = spec.uri.split("#");
  return [
    `${bare}${bare.includes("?") ? "&" : "?"}info_hash=${escapeBytes(announce.hash)}`,
    `peer_id=${escapeBytes(announce.peerId)}`,
    `port=${announce.port}`,
    `uploaded=${announce.uploaded}`,
    `downloaded=${announce.downloaded}`,
    `left=${announce.left}`,
    "compact=1",
    `numwant=${announce.numwant}`,
    `key=${announce.key.toString(16).toUpperCase().padStart(8, "0")}`,
    ...(event === "" ? [] : [`event=${event}`]),
    ...addressOf(spec),
    ...(trackerId === undefined ? [] : [`trackerid=${escapeBytes(trackerId)}`]),
  ].join("&");
}

function addressOf({ ip }: ForwarderSpec): string[] {
  if (ip === undefined) return [];
  return [`ip=${escapeBytes(ip)}`, `${ip.includes(":") ? "ipv6" : "ipv4"}=${escapeBytes(ip)}`];
}

const DISABLING = [400, 403, 404];

function judge({ status, headers, body }: HttpAnswer): Outcome {
  const reason = `HTTP ${status}`;
  if (status === 200) return readAnswer(body);
  if (status === 429 || status === 503) {
    return { kind: "suspend", ms: retryAfterMs(headers["retry-after"]), reason };
  }
  if (DISABLING.includes(status)) return { kind: "disable", reason };
  if (status >= 500) return { kind: "retry", reason };
  return { kind: "failed", reason: shorten(reason) };
}

/** 0 when it cannot be read. */
function retryAfterMs(text: string | undefined): number {
  const { delay } = RetryAfter.fromHeader(text, { fallback: 0 });
  return Math.min(delay, RETRY_AFTER_MS_MAX);
}
