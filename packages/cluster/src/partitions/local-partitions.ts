/**
 * The partitions as one process sees them. Those it owns are served over pairs of sockets inside
 * the process, the others by whoever `elsewhere` connects to; in both cases by the same stream code
 * and through the same client. So a partition that comes, goes or moves is a connection that broke
 * and is dialled again.
 */
import type { Homes, LendAnswer } from "@sluice/broker";
import { type LinkEvent, reachBroker } from "@sluice/client/remote";
import { type Broker, type Clock, SluiceError, SystemClock } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import { type ServerSocket, Sessions } from "@sluice/server/stream";
import type { Partitions } from "../directory.ts";
import { homeOfGate } from "../hash.ts";
import { PartitionPort } from "../partition-port/partition-port.ts";
import { BACKOFF_MS_MIN, HANDSHAKE_MS, HEARTBEAT_MS, PATIENCE_MS, RESUME_MS } from "./limits.ts";
import { socketPair } from "./socket-pair.ts";

export interface LocalPartitionsOptions {
  /** Connects to the owner of a partition that is not served here. Default: there is none. */
  elsewhere?: ((partition: number) => Promise<Socket>) | undefined;
  /** The broker of a partition that is served here has ended: it serves no more. */
  onGone?: ((partition: number, error: SluiceError) => void) | undefined;
  /** Whoever uses the ports speaks for clients, whose leases stay when it ends. Default: no. */
  isNode?: boolean | undefined;
  /** What the nodes of a cluster show each other. */
  apiKey?: string | undefined;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
  defer?: ((callback: () => void) => void) | undefined;
  resumeMs?: number | undefined;
  /** How long a call waits for its answer. Default: without end, once there is a connection. */
  callTimeoutMs?: number | undefined;
  onLink?: ((partition: number, event: LinkEvent) => void) | undefined;
}

interface Served {
  readonly port: PartitionPort;
  readonly sessions: Sessions<undefined>;
}

export class LocalPartitions implements Partitions {
  readonly #options: LocalPartitionsOptions;
  readonly #served = new Map<number, Served>();
  readonly #ports = new Map<number, ReturnType<typeof reachBroker>>();

  constructor(options: LocalPartitionsOptions = {}) {
    this.#options = options;
  }

  /** The partitions that are served here. */
  get served(): readonly number[] {
    return [...this.#served.keys()].sort((a, b) => a - b);
  }

  /** This process owns the partition from now on, and `broker` is open on its log. */
  serve(partition: number, broker: Broker): void {
    this.withdraw(partition);
    const { clock = new SystemClock(), defer = setImmediate, resumeMs = RESUME_MS } = this.#options;
    const { isNode = false } = this.#options;
    const port = new PartitionPort(partition, broker, (error) => {
      if (this.#served.get(partition)?.port !== port) return;
      this.withdraw(partition);
      this.#options.onGone?.(partition, error);
    });
    const sessions = new Sessions<undefined>({
      open: async () => ({ broker: port, isNode }),
      server: `partition ${partition}`,
      resumeMs,
      heartbeatMs: HEARTBEAT_MS,
      handshakeMs: HANDSHAKE_MS,
      clock,
      defer,
    });
    this.#served.set(partition, { port, sessions });
  }

  /** Cuts all connections. Leases stay; the broker is the caller's to close, after this. */
  withdraw(partition: number): void {
    const served = this.#served.get(partition);
    this.#served.delete(partition);
    served?.sessions.close();
  }

  /** The port of a partition that is served here, for whoever serves it to others. */
  hosted(partition: number): Broker | undefined {
    return this.#served.get(partition)?.port;
  }

  /** Takes a connection to a partition, of this process or of a network. */
  accept(partition: number, socket: ServerSocket): void {
    const served = this.#served.get(partition);
    if (served === undefined) throw moved(partition);
    served.sessions.accept(socket, undefined);
  }

  readonly dial = async (partition: number): Promise<Socket> => {
    if (this.#served.has(partition)) {
      const [near, far] = socketPair();
      this.accept(partition, far);
      return near;
    }
    const { elsewhere } = this.#options;
    if (elsewhere === undefined) throw moved(partition);
    return elsewhere(partition);
  };

  /** How the broker of a partition reaches the homes of the gates that it borrows from. */
  homes(partition: number, count: number): Homes {
    const all = Array.from({ length: count }, (_, one) => String(one));
    const name = String(partition);
    return {
      name,
      others: all.filter((one) => one !== name),
      homeOf: (gate) => String(homeOfGate(gate, count)),
      lend: async (home, request) => (await this.#reach(Number(home)).lend(request)) as LendAnswer,
    };
  }

  port(partition: number): Broker {
    return this.#reach(partition);
  }

  #reach(partition: number): ReturnType<typeof reachBroker> {
    const known = this.#ports.get(partition);
    if (known !== undefined) return known;
    const { apiKey, clock, random, defer, callTimeoutMs, onLink } = this.#options;
    const port = reachBroker({
      name: `partition ${partition}`,
      client: "router",
      apiKey,
      clock,
      random,
      defer,
      callTimeoutMs,
      onLink: onLink && ((event) => onLink(partition, event)),
      patienceMs: PATIENCE_MS,
      backoffMsMin: BACKOFF_MS_MIN,
      dial: () => this.dial(partition),
    });
    this.#ports.set(partition, port);
    return port;
  }

  /** Those that are served here are served on until they are withdrawn. */
  async close(options?: { timeoutMs?: number | undefined }): Promise<void> {
    const ports = [...this.#ports.values()];
    this.#ports.clear();
    await Promise.all(ports.map((port) => port.close(options)));
  }
}

/** Nobody answers for the partition here. */
export function moved(partition: number): SluiceError {
  const message = `partition ${partition} is not served here`;
  return new SluiceError("MOVED", message, { partition });
}
