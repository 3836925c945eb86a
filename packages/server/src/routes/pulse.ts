/**
 * The pulse of a server as server-sent events: the names of the queues that have changed, so that
 * a page asks again for what it shows and for nothing else. A pulse that stays away says that what
 * is shown is old.
 */
import { SluiceError } from "@sluice/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { allowsAny } from "../keys/grant.ts";
import type { Principal } from "../keys/principal.ts";
import { EVENTS_HEARTBEAT_MS, PULSE_QUEUES_MAX, PULSE_QUIET_MS } from "../limits.ts";
import type { Pulse } from "../pulse/pulse.ts";
import { route } from "./route.ts";
import { content } from "./shapes.ts";

export interface PulseOptions {
  readonly pulse: Pulse;
  readonly readersMax: number;
  readonly closing: AbortSignal;
}

const SAYS = "Server-sent events that tell which queues have changed, once a second at most";
const STREAM = "A stream of `pulse` with `{ at, queues, isCut }`; `isCut`: there are more.";

export function pulseRoutes(app: FastifyInstance, options: PulseOptions): void {
  let readers = 0;
  route(app, "GET /v1/pulse", {
    about: ["readPulse", "events", SAYS],
    description: "Every five seconds at least, so that silence means that the server is gone.",
    response: content("text/event-stream", STREAM),
    handler: async ({ principal }, reply) => {
      if (readers >= options.readersMax) {
        const message = `there are ${readers} readers of the pulse already`;
        throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: EVENTS_HEARTBEAT_MS });
      }
      principal.charge();
      readers++;
      reply.hijack();
      stream(reply, principal, options, () => readers--);
    },
  });
}

function stream(
  { raw }: FastifyReply,
  principal: Principal,
  { pulse, closing }: PulseOptions,
  onEnd: () => void,
): void {
  raw.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    connection: "close",
    "x-accel-buffering": "no",
  });
  const write = (queues: readonly string[]): void => {
    const shown = queues.slice(0, PULSE_QUEUES_MAX);
    const data = { at: Date.now(), queues: shown, isCut: queues.length > shown.length };
    raw.write(`event: pulse\ndata: ${JSON.stringify(data)}\n\n`);
  };
  raw.write("retry: 1000\n");
  write([]);
  let toldAt = performance.now();
  const leave = pulse.listen((changed) => {
    // A reader that takes nothing is left alone until it does.
    if (raw.writableNeedDrain) return;
    const queues = seen(principal, changed);
    if (queues === undefined) return void raw.end();
    if (queues.length === 0 && performance.now() - toldAt < PULSE_QUIET_MS) return;
    toldAt = performance.now();
    write(queues);
  });
  const end = (): void => void raw.end();
  closing.addEventListener("abort", end, { once: true });
  raw.once("close", () => {
    closing.removeEventListener("abort", end);
    leave();
    onEnd();
  });
}

/** Those that the reader may see; undefined once its key is good for nothing. */
function seen(principal: Principal, names: readonly string[]): string[] | undefined {
  try {
    const grants = principal.grants();
    return names.filter((name) => allowsAny(grants, name));
  } catch {
    return undefined;
  }
}
