import { SluiceError } from "@sluice/protocol";
import { IN_FLIGHT_MAX, NATS_RETRY_MS } from "../limits.ts";
import type { Position } from "../log.ts";
import { BREAK, encodeMessage, FENCE } from "../messages/message.ts";
import { logFailed } from "./errors.ts";
import type { NatsStream } from "./nats-stream.ts";
import type { NatsSettings } from "./options.ts";
import { Pipeline, type Waiter } from "./pipeline.ts";

export interface Fenced {
  readonly pipeline: Pipeline;
  /** The sequences of the fence's first and last message. */
  readonly first: Position;
  readonly last: Position;
}

/**
 * Shuts out the former writer of the stream. A message of theirs is stored only behind the
 * sequence that it names, so one fence message refuses the oldest that they have on the way. A
 * later one may name just that fence as its predecessor and stand behind it: never confirmed,
 * because the one before it is not. A fence of as many messages as they may have on the way leaves
 * no such place. It must stand as a whole: if anything has come between, the next one is set behind
 * it.
 *
 * A busy owner is always faster than a request for its last sequence. So what comes between is
 * answered by a break, which names no sequence and is stored wherever it arrives: from there on the
 * owner can have nothing confirmed, and gives up.
 */
export async function setFence(
  settings: NatsSettings,
  stream: NatsStream,
  owner: string,
): Promise<Fenced> {
  const endAt = performance.now() + settings.deadlineMs;
  for (let tries = 0; ; tries++) {
    const { state } = await stream.info();
    const fenced = await tryFence(settings, stream, `${owner}-${tries}`, state.last_seq);
    if (!(fenced instanceof SluiceError)) return fenced;
    if (fenced.details.isTaken !== true) throw fenced;
    if (performance.now() >= endAt) {
      throw logFailed(settings.stream, "opening", "other writers keep appending to it", fenced);
    }
    await stream.publish(encodeMessage({ ...NO_PLACE, kind: BREAK }, nameOf(owner)));
    // Two that open at once must not continue in step, and the former owner needs a moment.
    const pauseMs = NATS_RETRY_MS * (1 + Math.random() * Math.min(tries, 10));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

const NAME_BYTES = 64;
const NO_PLACE = {
  ...{ index: 0, lengthBytes: NAME_BYTES, partBytes: 0 },
  ...{ position: 0, fence: 0, chain: 0 },
};

function nameOf(owner: string): Uint8Array {
  const name = Buffer.alloc(NAME_BYTES);
  name.write(owner);
  return name;
}

async function tryFence(
  settings: NatsSettings,
  stream: NatsStream,
  owner: string,
  end: Position,
): Promise<Fenced | SluiceError> {
  const pipeline = new Pipeline(settings, stream, owner, end);
  const first = pipeline.next;
  const name = nameOf(owner);
  try {
    await new Promise<void>((resolve, reject) => {
      for (let index = 0; index < IN_FLIGHT_MAX; index++) {
        const place = { index, partBytes: IN_FLIGHT_MAX, position: first, fence: first };
        const head = { ...NO_PLACE, ...place, kind: FENCE } as const;
        const isLast = index === IN_FLIGHT_MAX - 1;
        const waiter: Waiter = { resolve: () => isLast && resolve(), reject };
        pipeline.put(encodeMessage(head, name), waiter);
      }
    });
  } catch (error) {
    return error as SluiceError;
  }
  return { pipeline, first, last: pipeline.next - 1 };
}
