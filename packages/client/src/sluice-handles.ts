/** The client: queues, gates, groups and stores over any Broker port. */
import {
  allQueues,
  type Broker,
  type CloseOptions,
  FakeClock,
  type GateInfo,
  invalid,
  parseClose,
  type QueueInfo,
  type ScheduleInfo,
  type ScheduleOptions,
  SluiceError,
  SystemClock,
  type Why,
  walkPages,
} from "@sluice/protocol";
import { Activity } from "./activity.ts";
import { Connection, type SluiceParts } from "./connection.ts";
import { Emitter, emit } from "./emitter.ts";
import { SLUICE_EVENTS, type SluiceEvents, type WorkEvents } from "./events.ts";
import { findSchedule } from "./find-schedule.ts";
import {
  type AddedFlow,
  type AddedTree,
  addGraph,
  addTree,
  type FlowGraph,
  type FlowTree,
  isTree,
  type OpenFlow,
  openFlow,
} from "./flow.ts";
import { Gate } from "./gate.ts";
import { Group } from "./group.ts";
import { Job } from "./job.ts";
import { PAGE_ITEMS } from "./limits.ts";
import { type CallOptions, type OperationOptions, parseCall, parseCallWith } from "./parse-call.ts";
import { Queue } from "./queue.ts";
import { type QueueOptions, splitQueue } from "./queue-options.ts";
import { type ConnectOptions, connectBroker } from "./remote/connect.ts";
import { LinkFeed } from "./remote/link.ts";
import { Schedule } from "./schedule.ts";
import type { InputOf, OutputOf, StandardSchema } from "./schema.ts";
import { Store } from "./store.ts";
import {
  type EventsNamed,
  parseFilter,
  type SluiceEvent,
  type SluiceEventFilter,
  ValueEvents,
} from "./value-events.ts";

/** The longest page there is. */
const ALL_GATES = { limit: 1_000 } as const;

export class SluiceHandles extends Emitter<SluiceEvents> implements AsyncDisposable {
  readonly #connection: Connection;
  /** Only a fake clock waits for what moves, so only tests pay for the counting. */
  readonly #activity: Activity | undefined;
  readonly #detach: () => void;
  #closing: Promise<void> | undefined = undefined;

  constructor(parts: SluiceParts) {
    super(SLUICE_EVENTS);
    const { clock, failed, link } = parts;
    const isFake = clock instanceof FakeClock;
    this.#activity = isFake ? new Activity() : undefined;
    this.#connection = new Connection(parts, this.#activity);
    this.#detach = isFake ? clock.attach(this) : () => {};
    void failed?.then((error) => emit<SluiceEvents, "error">(this, "error", { error }));
    link?.listen(({ event, ...said }) =>
      emit<SluiceEvents, typeof event>(this, event, said as never),
    );
  }

  /**
   * The queues of a server, as if they were here; resolves when the server has welcomed us. The
   * client reconnects and repeats unanswered calls; each takes effect exactly once. While the
   * server is away, calls wait for `callTimeout`.
   */
  static async connect(url: string, options: ConnectOptions = {}): Promise<SluiceHandles> {
    const link = new LinkFeed();
    const port = await connectBroker(url, { ...options, onLink: link.tell });
    return new SluiceHandles({ port, clock: new SystemClock(), failed: port.failure, link });
  }

  /**
   * Makes a queue, or changes one in place: its jobs stay, and what is not mentioned keeps its
   * value. With `create: false` the queue must exist. Schema, codec and functions (of a policy, or
   * for retries) belong to the handle and are not stored.
   */
  queue<S extends StandardSchema, R extends StandardSchema>(
    name: string,
    options: QueueOptions<OutputOf<S>> & { schema: S; result: R },
    call?: CallOptions,
  ): Promise<Queue<InputOf<S>, OutputOf<R>, OutputOf<S>>>;
  queue<S extends StandardSchema, Result = unknown>(
    name: string,
    options: QueueOptions<OutputOf<S>> & { schema: S },
    call?: CallOptions,
  ): Promise<Queue<InputOf<S>, Result, OutputOf<S>>>;
  queue<Payload extends Uint8Array, Result = unknown>(
    name: string,
    options: QueueOptions<Payload> & { codec: "bytes" },
    call?: CallOptions,
  ): Promise<Queue<Payload, Result>>;
  queue<R extends StandardSchema, Payload = unknown>(
    name: string,
    options: QueueOptions<Payload> & { result: R },
    call?: CallOptions,
  ): Promise<Queue<Payload, OutputOf<R>>>;
  queue<Payload = unknown, Result = unknown>(
    name: string,
    options?: QueueOptions<Payload>,
    call?: CallOptions,
  ): Promise<Queue<Payload, Result>>;
  async queue(
    name: string,
    options: object = {},
    call?: CallOptions,
  ): Promise<Queue<never, never>> {
    const { stored, local, create } = splitQueue(options);
    const { port } = this.#connection;
    const parsed = parseCall("queue", call);
    const found = create ? undefined : await port.queue(name, parsed);
    const isSame = found !== undefined && Object.keys(stored).length === 0;
    const info = isSame ? found : await port.setQueue(name, stored, parsed);
    const above = this as unknown as Emitter<WorkEvents<unknown, unknown>>;
    return new Queue(this.#connection, info, local, above);
  }

  /** The port beneath, for tools that look at everything. */
  get broker(): Broker {
    return this.#connection.port;
  }

  /** All queues, by name. They are read page by page. */
  async queues(options?: CallOptions): Promise<readonly QueueInfo[]> {
    return allQueues(this.#connection.port, parseCall("queues", options));
  }

  /** A handle on a job whose id is known. Asks nothing: its calls do. */
  job<Payload = unknown, Result = unknown>(id: string): Job<Payload, Result> {
    return new Job(this.#connection, { id });
  }

  /**
   * Adds jobs of any queues that wait for each other, up to 10,000, all or none: a tree, whose
   * parents run after their children, or jobs by names that say which others they follow.
   */
  flow(tree: FlowTree, options?: OperationOptions): Promise<AddedTree>;
  flow<Name extends string>(
    graph: FlowGraph<Name>,
    options?: OperationOptions,
  ): Promise<AddedFlow<Name>>;
  async flow(
    flow: FlowTree | FlowGraph,
    options?: OperationOptions,
  ): Promise<AddedTree | AddedFlow> {
    if (isTree(flow)) return addTree(this.#connection, flow, options);
    return addGraph(this.#connection, flow, options);
  }

  /**
   * Opens a flow for more jobs than one call takes. Nothing in it runs before it is sealed; it is
   * cancelled unless that is done within ten minutes. A key needs `produce` on the queue.
   */
  openFlow(queue: string, options?: OperationOptions): Promise<OpenFlow> {
    return openFlow(this.#connection, queue, options);
  }

  /** Why a job is not running, in words and data. */
  async why(id: string, options?: CallOptions): Promise<Why> {
    return this.#connection.port.why(id, parseCall("why", options));
  }

  /** Sends a value to a job: the step that waits for this name gets it, now or later. */
  async signal(
    id: string,
    name: string,
    value?: unknown,
    options?: OperationOptions,
  ): Promise<void> {
    await this.job(id).signal(name, value, options);
  }

  /** By its full name, such as `orders/batch-7`. */
  group(id: string): Group {
    return new Group(this.#connection.port, id);
  }

  gate(key: string): Gate {
    return new Gate(this.#connection.port, key);
  }

  /** All gates, by their keys. */
  async gates(options?: CallOptions): Promise<readonly GateInfo[]> {
    const { port } = this.#connection;
    const all = { ...ALL_GATES, ...parseCall("gates", options) };
    const found: GateInfo[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await port.gates(cursor === undefined ? all : { ...all, cursor });
      found.push(...page.items);
      ({ cursor } = page);
      if (cursor === undefined) return found;
    }
  }

  /**
   * Makes a schedule, or replaces the options of one: what it has done stays. With a plan (`cron`,
   * `every` or `at`) the queue must be named. Without one this finds the schedule of that name.
   */
  async schedule(
    name: string,
    options: (ScheduleOptions & { queue: string }) | { queue?: string } = {},
    call?: CallOptions,
  ): Promise<Schedule> {
    const { queue, ...rest } = options;
    const parsed = parseCall("schedule", call);
    const { port } = this.#connection;
    if (Object.keys(rest).length === 0) {
      return new Schedule(this.#connection, await findSchedule(port, name, queue, parsed));
    }
    if (queue === undefined) throw invalid("schedule.queue", "the name of a queue", queue);
    return new Schedule(this.#connection, await port.setSchedule(queue, name, rest, parsed));
  }

  /** All schedules, by queue and name, in pages as they are needed. */
  schedules(
    options: { queue?: string; search?: string } & CallOptions = {},
  ): AsyncIterableIterator<ScheduleInfo> {
    const { rest, call } = parseCallWith("schedules", options, ["queue", "search"]);
    const filter = { ...rest, ...call, limit: PAGE_ITEMS };
    return walkPages((from) => this.#connection.port.schedules({ ...filter, ...from }));
  }

  store<Value = unknown>(name: string): Store<Value> {
    return new Store(this.#connection.port, name);
  }

  /** What happens in the broker from now on, in order, once it is durable; results are values. */
  events<Name extends SluiceEvent["event"]>(
    filter: SluiceEventFilter<Name> = {},
  ): AsyncIterableIterator<EventsNamed<Name>> {
    const events = new ValueEvents(this.#connection.port.events(parseFilter(filter)));
    // The filter has chosen the names.
    return events as AsyncIterableIterator<SluiceEvent> as AsyncIterableIterator<EventsNamed<Name>>;
  }

  /**
   * For tests with a `FakeClock`: lets everything run that can run now, and resolves when nothing
   * moves any more. Time does not pass. A handler that waits for something outside, such as a
   * timer, is left waiting.
   */
  async drain(): Promise<void> {
    if (this.#activity === undefined) {
      const message = "drain() needs a FakeClock; pass one as the option `clock`";
      throw new SluiceError("INVALID", message, { field: "clock" });
    }
    await this.#activity.settled();
  }

  /**
   * Closes all workers and consumers, then the broker's port. Closing again waits for the first
   * close; a shorter time shortens its time.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    parseClose(options);
    if (this.#closing === undefined) {
      this.#closing = this.#connection.close(options).finally(this.#detach);
    } else void this.#connection.closeHolders(options);
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
