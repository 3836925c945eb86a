/**
 * The pulse of a server as server-sent events: the names of the queues that have changed, so that
 * a page asks again for what it shows and for nothing else. A pulse that stays away says that what
 * is shown is old.
 */
import type { ServerResponse } from "node:http";
import { type Clock, type QueueStats, wallTime } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { every } from "../every.ts";
import { allowsAny } from "../keys/grant.ts";
import type { Principal } from "../keys/principal.ts";
import { PULSE_MS, PULSE_QUEUES_MAX, PULSE_QUIET_MS } from "../limits.ts";
import { beginStream, checkReaders } from "./events.ts";
import { route } from "./route.ts";
import { content } from "./shapes.ts";

type Look = () => Promise<readonly { name: string; stats: QueueStats }[]>;
type Heard = (changed: readonly string[]) => void;

/**
 * Tells what has changed, once a second at most and only while there is a listener. It compares
 * figures instead of hearing of every job, so that its cost does not depend on the load.
 */
export class Pulse {
  readonly #look: Look;
  readonly #clock: Clock;
  readonly #listeners = new Set<Heard>();
  #known = new Map<string, string>();
  #stop: (() => void) | undefined;

  constructor(look: Look, clock: Clock) {
    this.#look = look;
    this.#clock = clock;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  listen(heard: Heard): () => void {
    this.#listeners.add(heard);
    this.#stop ??= every(this.#clock, PULSE_MS, () => this.beat());
    return () => {
      this.#listeners.delete(heard);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      this.#known.clear();
    };
  }

  async beat(): Promise<void> {
    // While there is no broker nothing changes, and the pulse continues.
    const queues = await this.#look().catch(() => []);
    const next = new Map(queues.map(({ name, stats }) => [name, figuresOf(stats)]));
    const changed = [...next].filter(([name, figures]) => this.#known.get(name) !== figures);
    const gone = [...this.#known.keys()].filter((name) => !next.has(name));
    this.#known = next;
    const names = [...changed.map(([name]) => name), ...gone];
    for (const heard of this.#listeners) heard(names);
  }
}

function figuresOf(stats: QueueStats): string {
  const { perTier: _, ...figures } = stats;
  return Object.values(figures).join();
}

export interface PulseOptions {
  readonly look: Look;
  readonly clock: Clock;
  readonly readersMax: number;
  readonly closing: AbortSignal;
}

const SAYS = "Server-sent events that tell which queues have changed, once a second at most";
const STREAM = "A stream of `pulse` with `{ at, queues, isCut }`; `isCut`: there are more.";

export function pulseRoutes(app: FastifyInstance, options: PulseOptions): void {
  const { look, clock, readersMax, closing } = options;
  const pulse = new Pulse(look, clock);
  route(app, "GET /v1/pulse", {
    about: ["readPulse", "events", SAYS],
    description: "Every five seconds at least, so that silence means that the server is gone.",
    response: content("text/event-stream", STREAM),
    handler: async ({ principal }, reply) => {
      checkReaders("the pulse", pulse.listeners, readersMax);
      principal.charge();
      reply.hijack();
      stream(reply.raw, principal, pulse, clock, closing);
    },
  });
}

function stream(
  raw: ServerResponse,
  principal: Principal,
  pulse: Pulse,
  clock: Clock,
  closing: AbortSignal,
): void {
  beginStream(raw, 1000);
  let toldAt = clock.now();
  const write = (queues: readonly string[]): void => {
    const shown = queues.slice(0, PULSE_QUEUES_MAX);
    const data = { at: wallTime(clock), queues: shown, isCut: queues.length > shown.length };
    raw.write(`event: pulse\ndata: ${JSON.stringify(data)}\n\n`);
    toldAt = clock.now();
  };
  write([]);
  const leave = pulse.listen((changed) => {
    // A reader that takes nothing is left alone until it does.
    if (raw.writableNeedDrain) return;
    const queues = seen(principal, changed);
    if (queues === undefined) return void raw.end();
    if (queues.length > 0 || clock.now() - toldAt >= PULSE_QUIET_MS) write(queues);
  });
  const end = (): void => void raw.end();
  const unwatch = principal.watch?.(() => {
    if (seen(principal, []) === undefined) end();
  });
  closing.addEventListener("abort", end, { once: true });
  raw.once("close", () => {
    closing.removeEventListener("abort", end);
    unwatch?.();
    leave();
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
