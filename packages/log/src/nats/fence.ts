import { SluiceError } from "@sluice/protocol";
import { IN_FLIGHT_MAX, NATS_RETRY_MS } from "../limits.ts";
import type { Position } from "../log.ts";
import { logFailed } from "./errors.ts";
import { encodeMessage, FENCE } from "./message.ts";
import type { NatsSettings } from "./options.ts";
import { Pipeline, type Waiter } from "./pipeline.ts";
import type { Stream } from "./stream.ts";

export interface Fenced {
  readonly pipeline: Pipeline;
  /** The sequences of the fence's first and last message. */
  readonly first: Position;
  readonly last: Position;
}

const NO_BODY = new Uint8Array(0);

/**
 * Shuts out whoever wrote to the stream before. A message of theirs is stored only behind the
 * sequence that it names, so one fence message refuses the oldest that they have on the way. A later
 * one may name just that fence as its predecessor and stand behind it: never confirmed, because the
 * one before it is not. A fence of as many messages as they may have on the way leaves no such place.
 * It must stand as a whole: if anything has come between, the next one is set behind it.
 */
export async function setFence(
  settings: NatsSettings,
  stream: Stream,
  owner: string,
): Promise<Fenced> {
  const endAt = performance.now() + settings.deadlineMs;
  for (let tries = 0; ; tries++) {
    const { state } = await stream.info();
    const fenced = await tryFence(settings, stream, `${owner}-${tries}`, state.last_seq);
    if (!(fenced instanceof SluiceError)) return fenced;
    if (!(fenced.details.isTaken === true)) throw fenced;
    if (performance.now() >= endAt) {
      throw logFailed(settings.stream, "opening", "others write to it all the time", fenced);
    }
    // Two that open at once must not go on in step.
    const pauseMs = NATS_RETRY_MS * (1 + Math.random() * Math.min(tries, 10));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function tryFence(
  settings: NatsSettings,
  stream: Stream,
  owner: string,
  end: Position,
): Promise<Fenced | SluiceError> {
  const pipeline = new Pipeline(settings, stream, owner, end);
  const first = pipeline.next;
  try {
    await new Promise<void>((resolve, reject) => {
      for (let index = 0; index < IN_FLIGHT_MAX; index++) {
        const head = { kind: FENCE, index, lengthBytes: 0, partBytes: 0, fence: first } as const;
        const isLast = index === IN_FLIGHT_MAX - 1;
        const waiter: Waiter = { resolve: () => isLast && resolve(), reject };
        pipeline.put(encodeMessage({ ...head, position: first }, NO_BODY), waiter);
      }
    });
  } catch (error) {
    return error as SluiceError;
  }
  return { pipeline, first, last: pipeline.next - 1 };
}
