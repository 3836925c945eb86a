import {
  BOUNDED_CALLS,
  type Broker,
  type BrokerEvent,
  boundOf,
  type CallName,
  type CallOptions,
  type ConsumeOptions,
  type Consumer,
  callsOf,
  checkOf,
  type Deliver,
  type EventFilter,
  isBounded,
  type LeasedJob,
  type LeaseOptions,
  optionsAt,
  SluiceError,
  SystemClock,
  type TableCalls,
} from "@sluice/protocol";
import { AddCalls } from "./add.ts";
import { BulkCalls } from "./bulk/bulk-calls.ts";
import { CALL_LEVELS } from "./codec/levels.ts";
import { FindCalls } from "./find.ts";
import { FlowCalls } from "./flows.ts";
import { GateCalls } from "./gates.ts";
import { GroupCalls } from "./groups.ts";
import { HandOut } from "./hand-out.ts";
import { InspectCalls } from "./inspect.ts";
import { LaneCalls } from "./lanes.ts";
import type { LendAnswer, LendRequest } from "./lending/port.ts";
import { type OpenOptions, parseOptions } from "./options.ts";
import { QueueCalls } from "./queues.ts";
import { Runtime } from "./runtime.ts";
import { ScheduleCalls } from "./schedules/schedule-calls.ts";
import { SettleCalls } from "./settle.ts";
import { type Sizes, StatsCalls } from "./stats.ts";
import { StepCalls } from "./steps.ts";
import { StoreCalls } from "./stores.ts";

/** Opens a broker on a log; when it resolves, all that the log holds is there again. */
export async function openBroker(options: OpenOptions): Promise<LocalBroker> {
  const runtime = new Runtime(
    options.log,
    options.clock ?? new SystemClock(),
    parseOptions(options),
  );
  await runtime.recover();
  return new LocalBroker(runtime);
}

/**
 * The Broker port in this process. Each call of the table is a method of one of the parts below; a
 * call that none of them has does not compile.
 */
export class LocalBroker extends callsOf<CallName>() implements Broker {
  declare lease: (queue: string, options: LeaseOptions) => Promise<LeasedJob[]>;
  readonly #runtime: Runtime;
  readonly #handOut: HandOut;
  readonly #stats: StatsCalls;
  readonly #answers: TableCalls & Pick<HandOut, "lease">;

  constructor(runtime: Runtime) {
    super();
    const { calls } = runtime;
    const adds = new AddCalls(runtime);
    this.#runtime = runtime;
    this.#handOut = new HandOut(runtime);
    this.#stats = new StatsCalls(runtime, adds.times);
    this.#answers = joined([
      adds,
      this.#handOut,
      new SettleCalls(runtime),
      new InspectCalls(runtime),
      new FindCalls(runtime),
      new BulkCalls(runtime),
      new FlowCalls(runtime),
      new GroupCalls(runtime),
      new QueueCalls(runtime),
      new LaneCalls(calls),
      new GateCalls(calls),
      new StoreCalls(calls),
      new ScheduleCalls(runtime),
      new StepCalls(runtime),
      this.#stats,
    ]);
  }

  /** Here and not in a wrapper around this class: the calls of a job pass one function less. */
  static {
    const methods = LocalBroker.prototype as unknown as Record<string, unknown>;
    for (const name of BOUNDED_CALLS) {
      const at = optionsAt(name);
      const check = checkOf(name);
      const level = CALL_LEVELS[name];
      methods[name] = function (this: LocalBroker, ...args: unknown[]): Promise<unknown> {
        const answer = this.#answers[name] as (...args: unknown[]) => Promise<unknown>;
        const options = args[at] as CallOptions | undefined;
        try {
          check(args);
          if (level !== undefined) this.#runtime.features.need(level, name);
          if (!isBounded(options)) return answer(...args);
          const bound = boundOf({ name, options, clock: this.#runtime.givenClock });
          args[at] = bound.options;
          return bound.over(answer(...args));
        } catch (error) {
          return Promise.reject(error);
        }
      };
    }
  }

  /** What is held in memory and in the log, in bytes. */
  sizes(): Sizes {
    return this.#stats.sizes();
  }

  events(filter: EventFilter = {}): AsyncIterableIterator<BrokerEvent> {
    this.#runtime.calls.check();
    return this.#runtime.feed.read(filter);
  }

  consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    return this.#handOut.consume(queue, options, deliver);
  }

  /** Another partition asks for permits of gates that are at home here. */
  async lend(request: LendRequest): Promise<LendAnswer> {
    this.#runtime.calls.check();
    const { sharing } = this.#runtime;
    if (sharing === undefined)
      throw new SluiceError("INVALID", "this broker is not part of a cluster and shares no gates");
    return sharing.lender.lend(request);
  }

  close(): Promise<void> {
    return this.#runtime.close();
  }
}

type Public<T> = { [N in keyof T]: T[N] };
type All<T> = (T extends unknown ? (each: Public<T>) => void : never) extends (all: infer A) => void
  ? A
  : never;

/** The calls of all parts as one object. */
function joined<P extends object>(parts: readonly P[]): All<P> {
  const calls: Record<string, unknown> = {};
  for (const part of parts as readonly Record<string, unknown>[]) {
    for (const name of BOUNDED_CALLS) {
      const call = part[name];
      if (typeof call === "function") calls[name] = call.bind(part);
    }
  }
  return calls as All<P>;
}
