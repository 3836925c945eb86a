/**
 * Server-sent events: what happens, as it happens. Nothing is kept for a reader that returns, so
 * `Last-Event-ID` means nothing here. A reader that does not keep up is cut off.
 */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import {
  type BrokerEvent,
  type Clock,
  EVENT_NAMES,
  type EventFilter,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { every } from "../every.ts";
import { EVENTS_HEARTBEAT_MS, EVENTS_STALL_MS } from "../limits.ts";
import { fromBytes } from "../payload.ts";
import { checkFilter } from "../stream/check-filter.ts";
import { goneSignal, type RouteContext } from "./context.ts";
import { route } from "./route.ts";
import { about, content, NAME, object, TEXT } from "./shapes.ts";

export function eventRoutes(app: FastifyInstance, context: RouteContext): void {
  let open = 0;
  const names = `Some of ${EVENT_NAMES.join(", ")}, with commas between them.`;
  route<{ Querystring: { queue?: string; events?: string } }>(app, "GET /v1/events", {
    about: ["events", "broker", "Server-sent events from now on"],
    querystring: object({ queue: NAME, events: about(names, TEXT) }),
    response: content(
      "text/event-stream",
      "A stream: `event` is the kind, `data` the event as JSON.",
    ),
    handler: async (request, reply) => {
      checkReaders("events", open, context.limits.eventStreamsMax);
      const events = context.broker(request).events(filterOf(request.query));
      const signal = AbortSignal.any([goneSignal(reply), context.closing]);
      reply.hijack();
      open++;
      await stream(reply.raw, events, context.clock, signal).finally(() => open--);
    },
  });
}

export function checkReaders(of: string, count: number, max: number): void {
  if (count < max) return;
  const message = `${count} readers of ${of} are connected, which is the limit; try again later`;
  throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: EVENTS_HEARTBEAT_MS });
}

/** Begins an answer of server-sent events; a reader that loses it returns after this time. */
export function beginStream(response: ServerResponse, retryMs: number): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    connection: "close",
    "x-accel-buffering": "no",
  });
  response.write(`retry: ${retryMs}\n`);
}

function filterOf({ queue, events }: { queue?: string; events?: string }): EventFilter {
  const filter: Record<string, unknown> = {};
  if (queue !== undefined) filter.queue = queue;
  if (events !== undefined) filter.events = events.split(",");
  return checkFilter(filter);
}

async function stream(
  response: ServerResponse,
  events: AsyncIterableIterator<BrokerEvent>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  beginStream(response, 2000);
  response.write(": open\n\n");
  const stopBeat = every(clock, EVENTS_HEARTBEAT_MS, () => void response.write(": alive\n\n"));
  const leave = (): void => void events.return?.();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    for await (const event of events) if (!(await write(response, event, clock, signal))) break;
  } catch (error) {
    const json = JSON.stringify(toSluiceError(error).toJSON());
    response.write(`event: error\ndata: ${json}\n\n`);
  } finally {
    stopBeat();
    response.end();
  }
}

/** False: the reader has taken nothing for too long. Meanwhile the broker counts what waits. */
async function write(
  response: ServerResponse,
  event: BrokerEvent,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const text = `event: ${event.event}\ndata: ${JSON.stringify(eventJson(event))}\n\n`;
  if (response.write(text)) return true;
  const patience = new AbortController();
  const timer = clock.at(clock.now() + EVENTS_STALL_MS, () => patience.abort());
  const ended = AbortSignal.any([signal, patience.signal]);
  const hasDrained = await once(response, "drain", { signal: ended }).then(
    () => true,
    () => false,
  );
  timer.cancel();
  if (!hasDrained) response.destroy();
  return hasDrained;
}

function eventJson(event: BrokerEvent): object {
  if (event.event !== "ended" || event.result === undefined) return event;
  const { result, ...rest } = event;
  return { ...rest, ...fromBytes("result", result) };
}
