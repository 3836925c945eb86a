/**
 * The partitions of a cluster, as a process sees them that serves some of them. Calls to those go
 * directly to their brokers, calls to the others over streams to their owners. Other processes
 * reach the brokers here by streams too.
 *
 * A partition that moves is a connection that broke, for callers here and elsewhere: `withdraw`
 * cuts the streams, and fails unanswered calls with MOVED. `makeCall` repeats them at the next
 * owner.
 */
import type { Homes, LendAnswer } from "@sluice/broker";
import type { Duration } from "@sluice/protocol";
import { type Broker, type SluiceError, SystemClock } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import type { Admit } from "@sluice/server";
import { type ServerSocket, Sessions } from "@sluice/server/stream";
import type { Partitions } from "../directory.ts";
import { FlowMessages } from "../flows/flow-messages.ts";
import { LINKS } from "../flows/link-jobs.ts";
import { homeOfGate } from "../hash.ts";
import { HANDSHAKE_MS, HEARTBEAT_MS, RESUME_MS } from "../limits.ts";
import { PartitionPort } from "../partition-port/partition-port.ts";
import { closed, makeCall, moved } from "./make-call.ts";
import {
  type PartitionStream,
  RemotePartitions,
  type RemotePartitionsOptions,
} from "./remote-partitions.ts";

export interface ServedPartitionsOptions extends Omit<RemotePartitionsOptions, "dial"> {
  /** Connects to the owner of a partition that is not served here. Default: there is none. */
  readonly elsewhere?: ((partition: number) => Promise<Socket>) | undefined;
  /** The broker of a partition that was served here has ended. */
  /** Why a partition takes no jobs at the moment. */
  readonly addRefusal?: ((partition: number) => SluiceError | undefined) | undefined;
  readonly onGone?: ((partition: number, error: SluiceError) => void) | undefined;
  readonly resumeMs?: number | undefined;
}

interface ServedPartition {
  /** For callers in this process. */
  readonly near: PartitionPort;
  /** For streams. */
  readonly far: PartitionPort;
  readonly sessions: Sessions<Admit>;
  readonly messages: FlowMessages;
}

/** Everything is allowed: for processes that trust each other without keys. */
const EVERYTHING: Admit = (_key, broker) => ({ broker, isNode: false });

export class ServedPartitions implements Partitions {
  readonly #options: ServedPartitionsOptions;
  readonly #served = new Map<number, ServedPartition>();
  readonly #remote: RemotePartitions;

  constructor(options: ServedPartitionsOptions = {}) {
    this.#options = options;
    const { elsewhere = async (partition) => Promise.reject(moved(partition)) } = options;
    const { apiKey, clock, random, defer } = options;
    this.#remote = new RemotePartitions({ dial: elsewhere, apiKey, clock, random, defer });
  }

  isServed(partition: number): boolean {
    return this.#served.has(partition);
  }

  /** This process owns the partition from now on, and `broker` is open on its log. */
  serve(partition: number, broker: Broker): void {
    this.withdraw(partition);
    const { clock = new SystemClock(), defer = setImmediate, resumeMs = RESUME_MS } = this.#options;
    const onGone = (error: SluiceError): void => {
      if (this.#served.get(partition) !== served) return;
      this.withdraw(partition);
      this.#options.onGone?.(partition, error);
    };
    const addRefusal = (): SluiceError | undefined => this.#options.addRefusal?.(partition);
    const onQueue = (queue: string): void => {
      if (queue === LINKS) messages.look();
    };
    const near = new PartitionPort(partition, broker, onGone, addRefusal, onQueue);
    const far = new PartitionPort(partition, broker, onGone, addRefusal, onQueue);
    const sessions = new Sessions<Admit>({
      open: async (apiKey, admit) => admit(apiKey, far),
      server: `partition ${partition}`,
      resumeMs,
      heartbeatMs: HEARTBEAT_MS,
      handshakeMs: HANDSHAKE_MS,
      clock,
      defer,
    });
    const messages = new FlowMessages({
      port: near,
      at: (other, call) => makeCall(this, other, call as (port: Broker) => ReturnType<typeof call>),
      clock,
    });
    const served = { near, far, sessions, messages };
    this.#served.set(partition, served);
    this.#remote.end(partition, moved(partition));
  }

  /** Cuts all connections. Leases stay; the caller closes the broker, after this. */
  withdraw(partition: number): void {
    const served = this.#served.get(partition);
    if (served === undefined) return;
    this.#served.delete(partition);
    served.messages.stop();
    // The streams first: nothing that the ports refuse must be sent as an answer.
    served.sessions.close();
    const error = moved(partition);
    void served.far.leave(error);
    void served.near.leave(error);
  }

  /** Takes a stream to a partition; `admit` says what the owner of a key may do. */
  accept(partition: number, socket: ServerSocket, admit: Admit = EVERYTHING): void {
    const served = this.#served.get(partition);
    if (served === undefined) throw moved(partition);
    served.sessions.accept(socket, admit);
  }

  /** How the broker of a partition reaches the homes of the gates that it borrows from. */
  homes(partition: number, count: number): Homes {
    // Partitions that were added later are homes of no gate.
    const all = Array.from({ length: count }, (_, one) => String(one));
    const name = String(partition);
    return {
      name,
      others: all.filter((one) => one !== name),
      homeOf: (gate) => String(homeOfGate(gate, count)),
      lend: async (home, request) => {
        const lent = await makeCall(this, Number(home), (port) => port.lend(request));
        return lent as LendAnswer;
      },
    };
  }

  port(partition: number): PartitionPort | PartitionStream {
    return this.#served.get(partition)?.near ?? this.#remote.port(partition);
  }

  /** The partitions that are served here; calls to others are refused at once. */
  near(): Partitions {
    const away = new Map<number, Broker>();
    const awayOf = (partition: number): Broker => {
      const port = away.get(partition) ?? awayPort(partition);
      away.set(partition, port);
      return port;
    };
    return {
      port: (partition) => this.#served.get(partition)?.near ?? awayOf(partition),
      close: async () => {},
    };
  }

  /** Leaves all partitions. Those that are served here stay so until they are withdrawn. */
  async close(options?: { timeout?: Duration | undefined }): Promise<void> {
    const near = [...this.#served.values()].map((served) => served.near.leave(closed()));
    await Promise.all([...near, this.#remote.close(options)]);
  }
}

/** Refuses every call. */
function awayPort(partition: number): Broker {
  const refuse = (): Promise<never> => Promise.reject(moved(partition));
  return new Proxy({} as Broker, { get: () => refuse });
}
