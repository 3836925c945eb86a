import type { TestContext } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type RunningServer, type ServeOptions, serve } from "../serve.ts";

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests.
  body: any;
}

export interface CallOptions {
  body?: unknown;
  key?: string | undefined;
  headers?: Record<string, string>;
  redirect?: RequestRedirect;
}

export interface Started {
  readonly broker: LocalBroker;
  readonly server: RunningServer;
  /** `call("GET /v1/queues")`. */
  call(line: string, options?: CallOptions): Promise<Answer>;
}

export interface StartOptions extends Partial<ServeOptions> {
  queues?: readonly string[];
}

/** The smallest payload that is JSON. */
export const payload = new TextEncoder().encode("1");

/** A broker in memory with these queues; it goes with the test. */
export async function memoryBroker(t: TestContext, ...queues: string[]): Promise<LocalBroker> {
  const broker = await openWith(queues);
  t.after(() => broker.close());
  return broker;
}

async function openWith(queues: readonly string[]): Promise<LocalBroker> {
  const broker = await openBroker({ log: new MemoryLog() });
  for (const queue of queues) await broker.setQueue(queue, {});
  return broker;
}

/** A real server on a free port, over a broker in memory; both go with the test. */
export async function start(
  t: TestContext,
  { queues = [], ...options }: StartOptions = {},
): Promise<Started> {
  const broker = await openWith(queues);
  const threads = Number(process.env.SLUICE_TEST_THREADS ?? 1);
  const server = await serve({ broker, log: "silent", threads, ...options });
  t.after(async () => {
    await server.close();
    await broker.close();
  });
  return { broker, server, call: (line, given) => call(server.address, line, given) };
}

export async function call(
  address: string,
  line: string,
  { body, key, headers = {}, redirect = "follow" }: CallOptions = {},
): Promise<Answer> {
  const [method = "GET", path = "/"] = line.split(" ");
  const sent: Record<string, string> = { ...headers };
  if (body !== undefined) sent["content-type"] ??= "application/json";
  if (key !== undefined) sent.authorization = `Bearer ${key}`;
  const response = await fetch(`${address}${path}`, {
    method,
    redirect,
    headers: sent,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}
