/**
 * What a client asks for: reads a frame, makes the call of the port, writes the answer. Answers
 * come in the order in which the broker gives them, each under the number of its operation.
 */
import {
  type Ack,
  type Broker,
  checkCall,
  type Extend,
  invalid,
  type LeasedJob,
  type Nack,
  type OperationOptions,
  type Outcome,
  rowOf,
  SluiceError,
} from "@sluice/protocol";
import {
  type ConsumeRequest,
  EVENTS,
  FRAME_BYTES_MAX,
  type FrameReader,
  type FrameWriter,
  HOLD_GROUPS,
  KIND,
  readAcks,
  readCall,
  readConsume,
  readExtends,
  readLease,
  readNacks,
  readNewJobs,
  readTokens,
  type WireCall,
  type WireName,
  writeAdded,
  writeAnswer,
  writeError,
  writeLeasedJob,
  writeOutcomes,
} from "@sluice/protocol/wire";
import type { SessionBounds } from "../limits.ts";
import { toStreamError } from "../shell/errors.ts";
import { checkFilter } from "./check-filter.ts";
import { writeDeliveries } from "./deliveries.ts";
import { type EventOutlet, tellEvents } from "./event-feed.ts";
import type { HeldLeases } from "./held-leases.ts";
import { Subscription } from "./subscription.ts";

/** The session that the requests belong to. */
export interface RequestSession extends EventOutlet {
  readonly held: HeldLeases;
  readonly subscriptions: Map<number, Subscription>;
  /** The client has these jobs from now on. */
  hold(jobs: readonly LeasedJob[]): void;
  endSubscription(operation: number): void;
  /** Stops or resumes reading, by what is under way. */
  look(): void;
  /** Sends what is written now, and not at the end of this turn. */
  push(): void;
}

export class Requests {
  readonly #session: RequestSession;
  readonly #bounds: SessionBounds;
  /** Operations that can be given up. */
  readonly #waiting = new Map<number, AbortController>();
  #bytes = 0;
  #count = 0;
  /** Those of them that may wait for as long as they like. */
  #patient = 0;
  #onIdle: (() => void) | undefined = undefined;
  #isGivenUp = false;

  constructor(session: RequestSession, bounds: SessionBounds) {
    this.#session = session;
    this.#bounds = bounds;
  }

  /**
   * So much is not answered yet that no more should be read. Those who wait do not count: what they
   * wait for may be the next thing to be read.
   */
  get isFull(): boolean {
    const { requestsBytesMax, requestsMax } = this.#bounds;
    return this.#bytes >= requestsBytesMax || this.#count - this.#patient >= requestsMax;
  }

  /** The client waits for no answer: a delivery need not wait for what leaves with it. */
  get #isAlone(): boolean {
    return this.#count === this.#patient && this.#session.subscriptions.size === 1;
  }

  take(reader: FrameReader): void {
    const { kind, operation } = reader;
    if (kind === KIND.cancel) return this.#cancel(operation);
    if (kind === KIND.credits) return this.#credits(operation, reader.f64());
    if (operation === 0) reader.fail("an operation without a number");
    const bytes = reader.frameBytes;
    const answer = this.#startOrRefuse(reader);
    this.#bytes += bytes;
    this.#count++;
    void this.#answer(operation, answer, bytes);
  }

  /** Resolves when nothing is left to be answered. */
  async answered(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** The caller has left: requests that could wait without end are ended. */
  giveUp(): void {
    this.#isGivenUp = true;
    for (const controller of this.#waiting.values()) controller.abort();
  }

  async #answer(operation: number, answer: Promise<Write>, bytes: number): Promise<void> {
    try {
      (await answer)(operation);
    } catch (error) {
      this.#refuse(operation, toStreamError(error));
    }
    this.#bytes -= bytes;
    if (--this.#count === 0) this.#onIdle?.();
    this.#session.look();
  }

  #refuse(operation: number, error: SluiceError): void {
    this.#session.channel.frame(KIND.error, operation, (writer) =>
      writeError(writer, error.toJSON()),
    );
  }

  /** A request that is too large is refused alone: its frame is whole, and so are the next. */
  #startOrRefuse(reader: FrameReader): Promise<Write> {
    try {
      return this.#start(reader);
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "PAYLOAD_TOO_LARGE") throw error;
      reader.skip();
      return Promise.reject(error);
    }
  }

  /** Reads the frame to its end at once; what it says is done by and by. */
  #start(reader: FrameReader): Promise<Write> {
    switch (reader.kind) {
      case KIND.add:
        return this.#add(reader);
      case KIND.ack:
        return this.#ack(operationOf(reader), readAcks(reader));
      case KIND.nack:
        return this.#nack(operationOf(reader), readNacks(reader));
      case KIND.giveBack:
        return this.#ended(readTokens(reader), (items) => this.#broker.giveBack(items));
      case KIND.extend:
        return this.#extend(readExtends(reader));
      case KIND.lease:
        return this.#lease(reader);
      case KIND.consume:
        return this.#consume(reader.operation, readConsume(reader));
      case KIND.stop:
        return this.#stop(reader.u32());
      case KIND.call:
        return this.#call(reader.operation, readCall(reader));
      case KIND.events:
        return this.#events(reader);
      default:
        return reader.fail(`an unknown kind of frame ${reader.kind}`);
    }
  }

  get #broker(): Broker {
    return this.#session.broker;
  }

  #add(reader: FrameReader): Promise<Write> {
    const { operation } = reader;
    const queue = reader.name();
    const named = operationOf(reader);
    const holdGroups = reader.flags(HOLD_GROUPS) !== 0;
    const jobs = readNewJobs(reader);
    return this.#untilGivenUp(operation, async (signal) => {
      const outcomes = await this.#broker.add(queue, jobs, { ...named, signal, holdGroups });
      return this.#frame(KIND.added, (writer) => writeAdded(writer, outcomes));
    });
  }

  #ack(named: OperationOptions, items: Ack[]): Promise<Write> {
    return this.#ended(items, () => this.#broker.ack(items, named));
  }

  #nack(named: OperationOptions, items: Nack[]): Promise<Write> {
    return this.#ended(items, () => this.#broker.nack(items, named));
  }

  async #ended<I extends { lease: string } | string>(
    items: I[],
    call: (items: I[]) => Promise<Outcome<true | number>[]>,
  ): Promise<Write> {
    const outcomes = await call(items);
    this.#session.held.ended(items, outcomes);
    if (outcomes.every(({ ok }) => ok === true)) {
      return this.#frame(KIND.done, (writer) => writer.u32(outcomes.length));
    }
    return this.#frame(KIND.outcomes, (writer) => writeOutcomes(writer, outcomes));
  }

  async #extend(items: Extend[]): Promise<Write> {
    const outcomes = await this.#broker.extend(items);
    this.#session.held.extended(items, outcomes);
    return this.#frame(KIND.outcomes, (writer) => writeOutcomes(writer, outcomes));
  }

  /** Leases of a poll belong to the caller, connected or not, until they run out. */
  #lease(reader: FrameReader): Promise<Write> {
    const { queue, options } = readLease(reader);
    return this.#patiently(reader.operation, async (signal) => {
      const jobs = await this.#broker.lease(queue, { ...options, signal });
      return this.#frame(KIND.leased, (writer) => {
        writer.u32(jobs.length);
        for (const job of jobs) writeLeasedJob(writer, job);
      });
    });
  }

  async #consume(operation: number, { queue, options }: ConsumeRequest): Promise<Write> {
    const session = this.#session;
    const { subscriptions, channel } = session;
    const { consumersMax } = this.#bounds;
    if (subscriptions.has(operation)) throw repeated(operation);
    if (subscriptions.size >= consumersMax) throw tooMany("consumers", consumersMax);
    const subscription = new Subscription({
      broker: session.broker,
      queue,
      options,
      deliver: (jobs) => {
        session.hold(jobs);
        writeDeliveries(channel, operation, jobs);
        if (this.#isAlone) session.push();
      },
      onOver: () => session.endSubscription(operation),
      bufferedBytes: () => session.bufferedBytes,
    });
    subscriptions.set(operation, subscription);
    try {
      await subscription.join();
    } catch (error) {
      subscriptions.delete(operation);
      throw error;
    }
    return this.#frame(KIND.consuming, () => {});
  }

  async #stop(consumer: number): Promise<Write> {
    const { subscriptions } = this.#session;
    const subscription = subscriptions.get(consumer);
    subscriptions.delete(consumer);
    await subscription?.stop();
    return this.#frame(KIND.done, (writer) => writer.u32(0));
  }

  #credits(consumer: number, count: number): void {
    this.#session.subscriptions.get(consumer)?.addCredits(count);
  }

  async #call(operation: number, { name, args }: WireCall): Promise<Write> {
    if (name === "lend") return this.#lend(operation, args);
    const row = rowOf(name);
    const checked = checkCall(row, args);
    if (!row.waits) return this.#answerOf(name, checked);
    return this.#patiently(operation, (signal) => this.#answerOf(name, [...checked, { signal }]));
  }

  /** What nodes ask each other is not in the port that all others see. */
  async #lend(operation: number, args: readonly unknown[]): Promise<Write> {
    const [request] = args;
    if (typeof request !== "object") throw invalid("request", "an object", request);
    return this.#patiently(operation, (signal) => orGivenUp(signal, this.#answerOf("lend", args)));
  }

  async #answerOf(name: WireName, args: readonly unknown[]): Promise<Write> {
    const broker = this.#broker as unknown as Record<string, (...args: unknown[]) => unknown>;
    const call = broker[name];
    if (call === undefined)
      throw new SluiceError("FORBIDDEN", `only nodes of a cluster can call ${name}`);
    const answer = await call.apply(broker, [...args]);
    return this.#frame(KIND.answer, (writer) => writeAnswer(writer, name, answer));
  }

  #events(reader: FrameReader): Promise<Write> {
    const { operation } = reader;
    const filter = reader.json(EVENTS);
    return this.#patiently(operation, async (signal) => {
      await tellEvents(this.#session, operation, checkFilter(filter), signal);
      return this.#frame(KIND.over, (writer) => writer.u8(0));
    });
  }

  /** What waits for something to happen, and takes no other request's turn. */
  async #patiently(
    operation: number,
    call: (signal: AbortSignal) => Promise<Write>,
  ): Promise<Write> {
    const { waitingMax } = this.#bounds;
    if (this.#patient >= waitingMax) throw tooMany("operations that wait", waitingMax);
    this.#patient++;
    try {
      return await this.#untilGivenUp(operation, call);
    } finally {
      this.#patient--;
    }
  }

  async #untilGivenUp(
    operation: number,
    call: (signal: AbortSignal) => Promise<Write>,
  ): Promise<Write> {
    const controller = new AbortController();
    if (this.#isGivenUp) controller.abort();
    this.#waiting.set(operation, controller);
    try {
      return await call(controller.signal);
    } finally {
      if (this.#waiting.get(operation) === controller) this.#waiting.delete(operation);
    }
  }

  #cancel(operation: number): void {
    this.#waiting.get(operation)?.abort();
  }

  /** An answer too large for a frame is an error of its own. */
  #frame(kind: number, write: (writer: FrameWriter) => void): Write {
    return (operation) => {
      this.#session.channel.frame(kind, operation, (writer) => {
        write(writer);
        if (writer.frameSize > FRAME_BYTES_MAX) throw tooLarge(writer.frameSize);
      });
    };
  }
}

/** A call that may wait long, and ends at once when its caller leaves. */
function orGivenUp<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(new SluiceError("ABORTED", "the caller closed the connection"));
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp, { once: true });
  return Promise.race([answer, promise]);
}

/** The name under which a call may be made again, after the end of this server too. */
function operationOf(reader: FrameReader): OperationOptions {
  const operationId = reader.text();
  return operationId === "" ? {} : { operationId };
}

type Write = (operation: number) => void;

function repeated(operation: number): SluiceError {
  const message = `operation must be a number that is not in use, got ${operation}`;
  return new SluiceError("INVALID", message, { field: "operation", value: operation });
}

function tooMany(what: string, max: number): SluiceError {
  return new SluiceError(
    "RATE_LIMITED",
    `this connection has ${max} ${what}, which is the limit; try again later`,
    {
      retryAfterMs: 1000,
    },
  );
}

function tooLarge(bytes: number): SluiceError {
  const message = `the answer has ${bytes} bytes, more than the ${FRAME_BYTES_MAX} of a frame`;
  return new SluiceError("PAYLOAD_TOO_LARGE", message, { field: "limit", value: bytes });
}
