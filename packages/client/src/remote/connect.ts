import {
  type Clock,
  type Duration,
  invalid,
  parseDuration,
  SystemClock,
  unknownField,
} from "@sluice/protocol";
import { CALL_TIMEOUT_MS, MOVED_MS_MAX } from "../limits.ts";
import { type Dial, dialWebSocket } from "./dial.ts";
import type { LinkEvent, LinkOptions } from "./link.ts";
import { RemoteBroker } from "./remote-broker.ts";

export interface ConnectOptions {
  /** The key of this program, when the server asks for keys. */
  apiKey?: string | undefined;
  /** How this program is called where connections are shown. */
  client?: string | undefined;
  /**
   * How long a call waits for its answer before it rejects with `UNAVAILABLE` (not sent) or
   * `TIMEOUT` (sent). Not for `finished`, `consume` and `events`. Default 30 s.
   */
  callTimeout?: Duration | undefined;
}

/** What only the library itself and its tests choose. */
export interface ConnectParts extends ConnectOptions {
  dial?: Dial | undefined;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
  defer?: ((callback: () => void) => void) | undefined;
  onLink?: ((event: LinkEvent) => void) | undefined;
}

const PUBLIC = ["apiKey", "client", "callTimeout"];
const KNOWN = [...PUBLIC, "dial", "clock", "random", "defer", "onLink"];

/** The port of the server at `url`; resolves when the server has welcomed us. */
export async function connectBroker(url: string, parts: ConnectParts = {}): Promise<RemoteBroker> {
  for (const [name, value] of Object.entries(parts)) {
    if (!KNOWN.includes(name)) throw unknownField(`connect.${name}`, PUBLIC, value);
  }
  const { apiKey, client } = parts;
  checkText("connect.apiKey", apiKey);
  checkText("connect.client", client);
  const callTimeoutMs = parseCallTimeout(parts.callTimeout);
  return RemoteBroker.open({ ...linkOf(streamUrl(url), parts), callTimeoutMs });
}

export function parseCallTimeout(value: unknown): number {
  if (value === undefined) return CALL_TIMEOUT_MS;
  return parseDuration("connect.callTimeout", value, undefined, 1);
}

/** What reaches a server whose address only `dial` knows, and may be another one every time. */
export interface ReachParts extends ConnectParts {
  dial: Dial;
  /** The name that error messages show in place of the address. */
  name: string;
  /** Before the first of several tries; each later one waits twice as long. */
  backoffMsMin?: number | undefined;
  /** How long calls wait for a connection before all are refused. Absent: each has its own time. */
  patienceMs?: number | undefined;
  /** How long a call waits for its answer. Absent: without end. */
  callTimeoutMs?: number | undefined;
}

/**
 * The port of a server that need not be there yet: calls wait for it. The next dial may lead
 * somewhere else, so it is never far away, however many have failed.
 */
export function reachBroker(parts: ReachParts): RemoteBroker {
  const { name, patienceMs, backoffMsMin, callTimeoutMs, ...rest } = parts;
  const backoff = { backoffMsMin, backoffMsMax: MOVED_MS_MAX };
  return RemoteBroker.start({ ...linkOf(name, rest), patienceMs, callTimeoutMs, ...backoff });
}

function linkOf(url: string, parts: ConnectParts): LinkOptions {
  return {
    url,
    apiKey: parts.apiKey,
    client: parts.client ?? "sluice",
    clock: parts.clock ?? new SystemClock(),
    dial: parts.dial ?? dialWebSocket,
    random: parts.random ?? randomly,
    defer: parts.defer ?? endOfTurn,
    onLink: parts.onLink,
  };
}

const TEXT_CHARS_MAX = 1000;

/** The key is a secret: the refusal does not repeat it. */
function checkText(field: string, text: unknown): void {
  if (text === undefined || (typeof text === "string" && text.length <= TEXT_CHARS_MAX)) return;
  throw invalid(field, `a text of at most ${TEXT_CHARS_MAX} characters`, typeof text);
}

/** Names of operations must not be guessed by another client, nor met by chance. */
function randomly(): number {
  const { crypto } = globalThis;
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
}

/** When all that is read in this turn of the event loop was handled; browsers have no such time. */
function endOfTurn(callback: () => void): void {
  if (typeof setImmediate === "function") setImmediate(callback);
  else queueMicrotask(callback);
}

const PATH = "/v1/stream";

const PROTOCOLS: Readonly<Record<string, string>> = {
  "http:": "ws:",
  "https:": "wss:",
  "ws:": "ws:",
  "wss:": "wss:",
};

/** The address of the stream of the server at `url`. */
function streamUrl(url: unknown): string {
  const wanted = 'the address of a server, such as "http://localhost:7070"';
  if (typeof url !== "string" || !URL.canParse(url)) throw invalid("connect.url", wanted, url);
  const parsed = new URL(url);
  const protocol = PROTOCOLS[parsed.protocol];
  if (protocol === undefined) throw invalid("connect.url", wanted, url);
  if (parsed.username !== "" || parsed.password !== "") {
    throw invalid(
      "connect.url",
      "an address without a user name; pass the key as apiKey",
      parsed.origin,
    );
  }
  const base = parsed.pathname.replace(/\/$/, "");
  const path = base.endsWith(PATH) ? base : `${base}${PATH}`;
  return `${protocol}//${parsed.host}${path}`;
}
