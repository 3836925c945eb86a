/** Requests that are almost right, or not at all: the failing seed is all it takes to try again. */
import { type Random, random } from "@sluice/protocol/testing/random";

export interface RandomRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  payload?: string;
}

const FIELDS = [
  ..."payload payloadBase64 jobs fairnessKey weight priority gates cost delay runAt".split(" "),
  ..."ttl deadline maxWait dedupe key mode window group headers attempts backoff".split(" "),
  ..."duration items lease result resultBase64 error cooldown gate ms reason blame max".split(" "),
  ..."worker encoding progress value grants action on name expiresAt count tiers rate".split(" "),
  ..."capacity retry dlq paused windows limit per interval ladder __proto__ constructor".split(" "),
];

const TEXTS = ["", "q", "a1", "a1.1", "*", "AP8=", "pending", "produce", "\ud800", "é".repeat(400)];
const NUMBERS = [0, 1, -1, 0.5, 1e9, 2 ** 53, -0, 1e308];

const QUEUE = ["q", "none", "a b", "%00", "%zz", "..", "x".repeat(300), "q%2Fjobs", "__proto__"];
const ENDS = [
  "/jobs",
  "/lanes",
  "/lanes/x",
  "/workers",
  "/lease",
  "/pause",
  "/resume",
  "/purge",
  "/redrive",
];
const JOBS = ["a1", "zzz", "a", "", "c999", "%ff"];
const OTHERS = ["/v1/ack", "/v1/nack", "/v1/extend", "/v1/progress", "/v1/give-back", "/v1/keys"];
const QUERIES = ["state=waiting", "state=x", "limit=5", "limit=-1", "cursor=1", "cursor=x,y"];
const MORE_QUERIES = ["sort=waiting", "search=%22", "lane=[", "lane=%5B%22a%22%5D", "a[b]=c", "&&"];
const METHODS = ["GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"];

function pick<T>(next: Random, from: readonly T[]): T {
  return from[Math.floor(next() * from.length)]!;
}

export function randomRequest(seed: number): RandomRequest {
  const next = random(seed);
  const method = pick(next, METHODS);
  const url = path(next) + query(next);
  const headers: Record<string, string> = { host: "localhost" };
  if (next() < 0.1) headers[pick(next, ["origin", "content-encoding", "idempotency-key"])] = "x";
  if (method === "GET" || next() < 0.1) return { method, url, headers };
  headers["content-type"] = next() < 0.95 ? "application/json" : pick(next, ["text/html", "a/b;"]);
  return { method, url, headers, payload: body(next) };
}

function path(next: Random): string {
  const kind = next();
  if (kind < 0.5) return `/v1/queues/${pick(next, QUEUE)}${next() < 0.8 ? pick(next, ENDS) : ""}`;
  if (kind < 0.6) return `/v1/jobs/${pick(next, JOBS)}${pick(next, ["", "/why", "/history"])}`;
  if (kind < 0.7) return `/v1/gates/${pick(next, QUEUE)}${pick(next, ["", "/cooldown"])}`;
  if (kind < 0.75) return `/v1/config/${pick(next, QUEUE)}`;
  if (kind < 0.8) return `/v1/groups/${pick(next, QUEUE)}/${pick(next, QUEUE)}`;
  if (kind < 0.95) return pick(next, OTHERS);
  return `/${pick(next, QUEUE)}`;
}

function query(next: Random): string {
  if (next() < 0.7) return "";
  return `?${pick(next, QUERIES)}&${pick(next, MORE_QUERIES)}`;
}

/** JSON for the most part, some of it cut off or with a wrong character in it. */
function body(next: Random): string {
  const text = JSON.stringify(next() < 0.9 ? object(next, 4) : value(next, 4)) ?? "";
  const kind = next();
  if (kind < 0.9) return text;
  const at = Math.floor(next() * text.length);
  return kind < 0.95 ? text.slice(0, at) : `${text.slice(0, at)}\u0000${text.slice(at)}`;
}

function value(next: Random, depth: number): unknown {
  const kind = next();
  if (kind < 0.25) return pick(next, NUMBERS);
  if (kind < 0.5) return pick(next, TEXTS);
  if (kind < 0.6) return pick(next, [null, true, false]);
  if (kind < 0.61) return JSON.parse("[".repeat(600) + "]".repeat(600));
  if (depth === 0) return 1;
  const length = Math.floor(next() * 4);
  if (kind < 0.8) return Array.from({ length }, () => value(next, depth - 1));
  return object(next, depth - 1);
}

function object(next: Random, depth: number): object {
  const fields = Array.from({ length: 1 + Math.floor(next() * 4) }, () => pick(next, FIELDS));
  // Not by assignment: a field called __proto__ must reach the server.
  return Object.fromEntries(fields.map((field) => [field, value(next, depth)]));
}

/** Bytes that are hardly HTTP. */
export function randomBytes(seed: number): Buffer {
  const next = random(seed);
  const { method, url, headers, payload = "" } = randomRequest(seed);
  const head = Object.entries(headers).map(([name, text]) => `${name}: ${text}\r\n`);
  const length = pick(next, [String(payload.length), "-1", "5", "99999999999", "x"]);
  const lengths = ["", `content-length: ${length}\r\n`, "transfer-encoding: chunked\r\n"];
  const text = `${method} ${url} HTTP/1.1\r\n${head.join("")}${pick(next, lengths)}\r\n${payload}`;
  const bytes = Buffer.from(text);
  for (let i = 0; i < 3; i++) {
    if (next() < 0.5) bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
  }
  return bytes;
}
