/** The handlers that the server brings: enough to try it, and to see what one looks like. */
import { setTimeout } from "node:timers/promises";
import { callOutside } from "sluice/http";
import { FETCH_BYTES_MAX, FETCH_TIMEOUT_MS, SLEEP_MS_MAX } from "../limits.ts";
import type { JobContext, JobHandlers } from "./handler.ts";

export const shippedHandlers: JobHandlers = {
  echo: (args) => args,
  sleep,
  "http-get": httpGet,
};

async function sleep(args: unknown, { signal }: JobContext): Promise<{ slept_ms: number }> {
  const { ms } = fieldsOf(args);
  if (typeof ms !== "number" || !(ms >= 0 && ms <= SLEEP_MS_MAX)) {
    throw new TypeError(`arguments.ms must be a number from 0 to ${SLEEP_MS_MAX}, got ${show(ms)}`);
  }
  await setTimeout(ms, undefined, { signal });
  return { slept_ms: ms };
}

/** A submitter's address is a stranger's: it may lead to public addresses only. */
async function httpGet(
  args: unknown,
  { signal }: JobContext,
): Promise<{ status: number; url: string; headers: unknown; body: string }> {
  const { url } = fieldsOf(args);
  if (typeof url !== "string") {
    throw new TypeError(`arguments.url must be a URL, got ${show(url)}`);
  }
  const answer = await callOutside(url, {
    chooser: "stranger",
    timeout: FETCH_TIMEOUT_MS,
    bytesMax: FETCH_BYTES_MAX,
    signal,
  });
  const body = new TextDecoder().decode(answer.body);
  return { status: answer.status, url: answer.url, headers: answer.headers, body };
}

function fieldsOf(args: unknown): Record<string, unknown> {
  if (typeof args === "object" && args !== null) return args as Record<string, unknown>;
  throw new TypeError(`arguments must be an object, got ${show(args)}`);
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? typeof value;
}
