/** The Broker port of a server, over a stream: each call is an operation with an answer. */
import {
  type Ack,
  type Added,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type CallOptions,
  type CloseOptions,
  type ConsumeOptions,
  type Consumer,
  checkBatch,
  type Deliver,
  type EventFilter,
  type Extend,
  type LeasedJob,
  type LeaseOptions,
  type Nack,
  type NewJob,
  type OperationOptions,
  type Outcome,
  parseDuration,
  rowOf,
  SluiceError,
  WAIT,
} from "@sluice/protocol";
import {
  EVENTS,
  type FrameReader,
  type FrameWriter,
  KIND,
  readError,
  readEvents,
  readLeasedJobs,
  readOutcomes,
  type WireName,
  writeAcks,
  writeExtends,
  writeLease,
  writeNacks,
  writeTokens,
} from "@sluice/protocol/wire";
import { LEAVE_MS } from "../limits.ts";
import { addInParts } from "./add-jobs.ts";
import { type LinkOptions, type LinkOwner, StreamLink } from "./link.ts";
import { NamedCalls } from "./named-calls.ts";
import { type Bound, RemoteOperations, unavailable } from "./operations.ts";
import { RemoteConsumer } from "./remote-consumer.ts";
import { RemoteEvents } from "./remote-events.ts";

const DONE: Outcome<true> = Object.freeze({ ok: true });

export class RemoteBroker extends NamedCalls implements Broker, LinkOwner {
  readonly #options: LinkOptions;
  readonly #link: StreamLink;
  readonly #operations: RemoteOperations;
  readonly #consumers = new Map<number, RemoteConsumer>();
  readonly #events = new Map<number, RemoteEvents>();
  readonly #failed = Promise.withResolvers<SluiceError>();
  readonly #mark: string;
  #named = 0;
  /** Why every later call is refused. */
  #end: SluiceError | undefined = undefined;
  /** Why calls are refused until there is a connection again. */
  #away: SluiceError | undefined = undefined;
  #closing: Promise<void> | undefined = undefined;
  #left: (() => void) | undefined = undefined;

  private constructor(options: LinkOptions) {
    super();
    this.#options = options;
    this.#link = new StreamLink(options, this);
    const isTaken = (operation: number): boolean =>
      this.#consumers.has(operation) || this.#events.has(operation);
    this.#operations = new RemoteOperations({
      channel: this.#link.channel,
      clock: options.clock,
      url: options.url,
      callTimeoutMs: options.callTimeoutMs ?? Number.POSITIVE_INFINITY,
      isUp: () => this.#link.isUp,
      isTaken,
    });
    this.#mark = Array.from({ length: 4 }, () => options.random().toString(36).slice(2, 7)).join(
      "",
    );
  }

  /** Answers when the server has welcomed us. */
  static async open(options: LinkOptions): Promise<RemoteBroker> {
    const broker = new RemoteBroker(options);
    await broker.#link.open();
    return broker;
  }

  /** Answers at once: calls wait until there is a server that welcomes us, however long. */
  static start(options: LinkOptions): RemoteBroker {
    const broker = new RemoteBroker(options);
    broker.#link.start();
    return broker;
  }

  /** Resolves when the server refuses us for good. */
  get failure(): Promise<SluiceError> {
    return this.#failed.promise;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions = {},
  ): Promise<Outcome<Added>[]> {
    checkBatch("jobs", jobs);
    const { holdGroups = false, operationId = this.operationId() } = options;
    const operations = this.#operations;
    const bound = operations.bound({ ...options, operationId });
    this.#checkReach();
    const check = (): void => this.#checkReach();
    return addInParts({ operations, queue, jobs, operationId, bound, holdGroups, check });
  }

  /** A unique name for a call, so that the call can be repeated after a crash. */
  protected override operationId(): string {
    return `${this.#mark}.${++this.#named}`;
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    // A poll is answered when its own time is over.
    const waitMs = WAIT.parse("wait", options.wait ?? 0);
    const bound = this.#operations.bound(options, false, waitMs);
    this.#checkReach();
    return this.#operations.ask(
      {
        name: "lease",
        kind: KIND.lease,
        write: (writer) => writeLease(writer, queue, options),
        read: (reader) => readLeasedJobs(reader, queue),
        late: (jobs) => this.#return(jobs),
      },
      bound,
    );
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    this.#check();
    const consumer = new RemoteConsumer({
      channel: this.#link.channel,
      operation: this.#operations.number(),
      queue,
      options,
      deliver,
      stop: (one) => this.#stop(one),
    });
    this.#consumers.set(consumer.operation, consumer);
    consumer.join();
    await consumer.joined.promise;
    return consumer;
  }

  ack(items: readonly Ack[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    const { operationId = this.operationId() } = options;
    const write = (writer: FrameWriter): void => {
      writer.text(operationId);
      writeAcks(writer, items);
    };
    return this.#endJobs(
      { name: "ack", kind: KIND.ack, items, write },
      { ...options, operationId },
    );
  }

  nack(items: readonly Nack[], options: OperationOptions = {}): Promise<Outcome<true | number>[]> {
    const { operationId = this.operationId() } = options;
    const write = (writer: FrameWriter): void => {
      writer.text(operationId);
      writeNacks(writer, items);
    };
    return this.#endJobs(
      { name: "nack", kind: KIND.nack, items, write },
      { ...options, operationId },
    );
  }

  giveBack(leases: readonly string[], options?: CallOptions): Promise<Outcome<true>[]> {
    return this.#endJobs(giveBackOf(leases), options);
  }

  async extend(items: readonly Extend[], options?: CallOptions): Promise<Outcome<number>[]> {
    checkBatch("items", items);
    const bound = this.#operations.bound(options);
    this.#checkReach();
    return this.#operations.ask(
      {
        name: "extend",
        kind: KIND.extend,
        write: (writer) => writeExtends(writer, items),
        read: (reader) => readOutcomes(reader) as Outcome<number>[],
      },
      bound,
    );
  }

  events(filter: EventFilter = {}): AsyncIterableIterator<BrokerEvent> {
    this.#check();
    const operation = this.#operations.number();
    const { channel } = this.#link;
    const events = new RemoteEvents(() => {
      this.#events.delete(operation);
      channel.frame(KIND.cancel, operation, () => {});
    });
    this.#events.set(operation, events);
    const ask = (): void => {
      events.isHeard = this.#link.isUp;
      channel.frame(KIND.events, operation, (writer) => writer.json(filter, EVENTS));
    };
    events.ask = ask;
    ask();
    return events;
  }

  /** Leaves, so that leases go back at once; a second call waits for the first. */
  close({ timeout = LEAVE_MS }: CloseOptions = {}): Promise<void> {
    const ms = parseDuration("close.timeout", timeout);
    this.#closing ??= this.#close(Math.min(ms, LEAVE_MS));
    return this.#closing;
  }

  /** Ends at once: unanswered calls fail with `error`, so that they can be made elsewhere. */
  end(error: SluiceError): void {
    this.#end ??= error;
    this.#link.close();
    for (const events of this.#events.values()) events.end(events.isHeard ? interrupted() : error);
    for (const consumer of this.#consumers.values()) consumer.end(error);
    // Calls follow a turn later: events that were asked for before them must tell of them.
    this.#options.defer(() => this.#over(error));
  }

  protected override call<T>(
    name: WireName,
    args: readonly unknown[],
    options?: OperationOptions,
  ): Promise<T> {
    const isPatient = name !== "lend" && rowOf(name).waits;
    const bound = this.#operations.bound(options, isPatient);
    if (isPatient) this.#check();
    else this.#checkReach();
    return this.#operations.ask(this.ask<T>(name, args), bound);
  }

  // What the link tells

  receive(reader: FrameReader): void {
    const { kind, operation } = reader;
    if (kind === KIND.deliver) return this.#deliver(reader);
    if (kind === KIND.left) return this.#left?.();
    if (this.#operations.answer(reader)) return;
    const consumer = this.#consumers.get(operation);
    if (consumer !== undefined) return this.#answerConsumer(consumer, reader);
    const events = this.#events.get(operation);
    if (events === undefined) return;
    if (kind === KIND.happened) return events.tell(readEvents(reader));
    this.#events.delete(operation);
    events.end(kind === KIND.error ? SluiceError.fromJSON(readError(reader)) : undefined);
  }

  up(isResumed: boolean): void {
    this.#away = undefined;
    if (isResumed) {
      for (const events of this.#events.values()) events.isHeard = true;
      this.#operations.resume();
      return;
    }
    for (const consumer of this.#consumers.values()) consumer.join();
    for (const [operation, events] of this.#events) {
      if (!events.isHeard) events.ask();
      else {
        // It is unknown what happened meanwhile: the reader must learn that something is missing.
        this.#events.delete(operation);
        events.end(interrupted());
      }
    }
    this.#operations.repeat();
  }

  outOfReach(error: SluiceError): void {
    this.#away = unavailable(this.#options.url, "the call was not sent", error);
    this.#operations.failImpatient(error);
  }

  failed(error: SluiceError): void {
    this.#over(error);
    this.#failed.resolve(error);
  }

  async #close(leaveMs: number): Promise<void> {
    const end = new SluiceError("CLOSED", "the connection is closed");
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#operations.leaving = end;
    if (this.#link.isUp) await this.#leave(leaveMs);
    this.#link.close();
    this.#over(end);
  }

  /** Until the server has said farewell, or has not for long. */
  async #leave(ms: number): Promise<void> {
    const { clock } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#left = resolve;
    const timer = clock.at(clock.now() + ms, resolve);
    // What is on its way to them goes back first, by our own word: a server that takes us for a
    // node gives nothing back when we leave.
    const consumers = [...this.#consumers.values()];
    void Promise.allSettled(consumers.map((consumer) => consumer.stop())).then(() => {
      if (this.#link.isUp) this.#link.channel.frame(KIND.leave, 0, () => {});
    });
    await promise;
    timer.cancel();
  }

  #over(error: SluiceError): void {
    this.#end ??= error;
    this.#left?.();
    this.#operations.failAll(error);
    for (const consumer of this.#consumers.values()) consumer.end();
    this.#consumers.clear();
    const isClosed = error.code === "CLOSED";
    for (const events of this.#events.values()) events.end(isClosed ? undefined : error);
    this.#events.clear();
  }

  #check(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  #checkReach(): void {
    this.#check();
    if (this.#away !== undefined) throw this.#away;
  }

  async #endJobs(end: EndOfJobs, options?: OperationOptions): Promise<Outcome<true>[]> {
    checkBatch(end.name === "giveBack" ? "leases" : "items", end.items);
    const bound = this.#operations.bound(options);
    this.#checkReach();
    return this.#askToEnd(end, bound);
  }

  #askToEnd({ items, ...ask }: EndOfJobs, bound: Bound): Promise<Outcome<true>[]> {
    const read = (reader: FrameReader): Outcome<true>[] => {
      if (reader.kind === KIND.done) return new Array<Outcome<true>>(items.length).fill(DONE);
      return readOutcomes(reader) as Outcome<true>[];
    };
    return this.#operations.ask({ ...ask, read }, bound);
  }

  #deliver(reader: FrameReader): void {
    const consumer = this.#consumers.get(reader.operation);
    const jobs = readLeasedJobs(reader, consumer?.queue ?? "");
    if (consumer?.receive(jobs) !== true) this.#return(jobs);
  }

  /** Gives back jobs that came for a consumer that is gone, also while the client closes. */
  #return(jobs: readonly LeasedJob[]): void {
    if (jobs.length === 0) return;
    const leases = jobs.map(({ lease }) => lease);
    this.#askToEnd(giveBackOf(leases), this.#operations.bound()).catch(() => {});
  }

  #answerConsumer(consumer: RemoteConsumer, reader: FrameReader): void {
    if (reader.kind === KIND.consuming) return consumer.joined.resolve();
    this.#consumers.delete(consumer.operation);
    const isError = reader.kind === KIND.error || (reader.kind === KIND.over && reader.u8() === 1);
    consumer.end(isError ? SluiceError.fromJSON(readError(reader)) : undefined);
  }

  async #stop(consumer: RemoteConsumer): Promise<void> {
    const write = (writer: FrameWriter): void => writer.u32(consumer.operation);
    try {
      const ask = { name: "stop", kind: KIND.stop, write, read: () => {} };
      await this.#operations.ask(ask, this.#operations.bound());
    } catch (error) {
      // A session that continues after all must not deliver to a consumer that is gone.
      const isOver = this.#end !== undefined;
      if (!isOver) this.#link.channel.frame(KIND.stop, this.#operations.number(), write);
      throw error;
    } finally {
      // A server that does not know of it must not be asked to take it in again.
      this.#consumers.delete(consumer.operation);
      consumer.end();
    }
  }
}

interface EndOfJobs {
  readonly name: string;
  readonly kind: number;
  readonly items: readonly unknown[];
  readonly write: (writer: FrameWriter) => void;
}

function giveBackOf(leases: readonly string[]): EndOfJobs {
  const write = (writer: FrameWriter): void => writeTokens(writer, leases);
  return { name: "giveBack", kind: KIND.giveBack, items: leases, write };
}

function interrupted(): SluiceError {
  const message =
    "the connection was lost and events are missing: read the state again, then call events again";
  return new SluiceError("DISCONNECTED", message);
}
