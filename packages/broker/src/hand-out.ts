import {
  aborted,
  type Clock,
  type ConsumeOptions,
  type Consumer,
  CREDITS_MAX,
  checkInteger,
  checkSignal,
  type Deliver,
  type LeasedJob,
  type LeaseOptions,
  WAIT,
} from "@sluice/protocol";
import type { Consumers, LocalConsumer } from "./consumers.ts";
import type { EngineCalls } from "./engine-calls.ts";
import type { SharedGates } from "./lending/shared-gates.ts";
import { HOMES_ASKED_MAX, LEND_POLL_MS } from "./limits.ts";
import type { Pump } from "./pump.ts";

interface HandOutParts {
  readonly calls: EngineCalls;
  readonly clock: Clock;
  readonly consumers: Consumers;
  readonly pump: Pump;
  readonly sharing: SharedGates | undefined;
}

/** Hands jobs out: to consumers as they can run, or to a caller that polls. */
export class HandOut {
  readonly #of: HandOutParts;

  constructor(of: HandOutParts) {
    this.#of = of;
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    checkInteger("credits", options.credits, 0, CREDITS_MAX);
    return this.#of.calls.call(() => this.#of.consumers.join(queue, options, deliver));
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    const { max, wait = 0, lease, worker = "poll", signal } = options;
    checkInteger("max", max, 1, CREDITS_MAX);
    const waitMs = WAIT.parse("wait", wait);
    checkSignal(signal);
    const { promise, resolve, reject } = Promise.withResolvers<LeasedJob[]>();
    const { calls, clock, consumers, pump, sharing } = this.#of;
    const consumer = calls.call(() =>
      consumers.join(queue, { worker, credits: max, lease }, resolve),
    );
    consumer.isPoll = true;
    const release = waitMs === 0 ? sharing?.press() : undefined;
    pump.runNow();
    const giveUp = (): void => {
      // What is on its way still arrives, unless it is cancelled there.
      consumer.onNothing = () => resolve([]);
      if (consumer.onTheWay === 0) resolve([]);
    };
    if (waitMs === 0 && sharing?.pressed() === undefined) giveUp();
    else if (waitMs === 0) void this.#asked(consumer).then(giveUp);
    const timer = clock.at(clock.now() + (waitMs || LEND_POLL_MS), giveUp);
    const abort = (): void => {
      reject(aborted(signal!));
      // At once: what becomes durable in this turn must go back, and not to a caller that is gone.
      consumers.leave(consumer);
    };
    signal?.addEventListener("abort", abort, { once: true });
    void consumer.over.then(() => resolve([]));
    try {
      return await promise;
    } finally {
      timer.cancel();
      release?.();
      signal?.removeEventListener("abort", abort);
      consumers.leave(consumer);
    }
  }

  /** Until the homes of gates have answered what they can lend now, or a job can be given. */
  async #asked(consumer: LocalConsumer): Promise<void> {
    const { pump, sharing } = this.#of;
    for (let tries = 0; tries < HOMES_ASKED_MAX && consumer.onTheWay === 0; tries++) {
      const heard = sharing?.pressed();
      if (heard === undefined) return;
      await heard;
      pump.runNow();
    }
  }
}
