/** The partitions that this node has open: each a broker on its log, and the streams to it. */
import { type LocalBroker, type OpenOptions, openBroker } from "@sluice/broker";
import type { Anchor, Log } from "@sluice/log";
import { type Clock, type SluiceError, SystemClock } from "@sluice/protocol";
import type { Admit } from "@sluice/server";
import { type ServerSocket, Sessions } from "@sluice/server/stream";
import { HANDSHAKE_MS, HEARTBEAT_MS, SOON_MS } from "../limits.ts";
import { moved } from "../partitions/make-call.ts";
import type { ServedPartitions } from "../partitions/served-partitions.ts";
import type { KnownLog, PartitionHost } from "./partition-life.ts";

/** A log that is read while another node still writes to it. */
export interface FollowedLog extends Log {
  /** Resolves when its replay has come to what was the end at that time. */
  readonly caughtUp: Promise<void>;
  /** Fences its current writer. Then its replay reaches the end. */
  takeOver(anchor?: Anchor): Promise<void>;
}

export interface OpenPartitionsOptions {
  readonly clock: Clock;
  /** Fences the previous owner of the log. */
  readonly openLog: (partition: number, known: KnownLog) => Promise<Log>;
  /** Absent: nothing can be read ahead. */
  readonly followLog?: ((partition: number) => Promise<FollowedLog>) | undefined;
  readonly broker: Omit<OpenOptions, "log" | "clock" | "onFailure" | "homes">;
  readonly partitions: ServedPartitions;
  /** How many of the cluster are homes of gates. */
  readonly count: number;
  readonly resumeMs: number;
  /** Whether the partition is about to be served here. */
  readonly isExpected: (partition: number) => boolean;
  /** Why it could not be opened the last time. */
  readonly troubleOf: (partition: number) => SluiceError | undefined;
  readonly onFailed: (partition: number, error: SluiceError) => void;
  /** A partition is open and served from now on. */
  readonly onServed: (partition: number) => void;
}

interface OpenPartition {
  readonly log: Log;
  readonly broker: LocalBroker;
}

/** A broker that reads along, until its log is taken over. */
interface WarmPartition {
  readonly log: FollowedLog;
  readonly opening: Promise<LocalBroker>;
}

interface StreamRequest {
  readonly partition: number;
}

const RESTING = "its log does not answer, so nothing could be confirmed";
/** The text of an unexpected error is for the node's own log, not for callers. */
const UNEXPECTED = "it could not be opened; its node has written why to standard error";
const NO_FACTS = new Uint8Array(0);

export class OpenPartitions implements PartitionHost {
  readonly #options: OpenPartitionsOptions;
  readonly #open = new Map<number, OpenPartition>();
  readonly #warm = new Map<number, WarmPartition>();
  /** Logs that are about to be read ahead; what is not here any more is not wanted. */
  readonly #awaited = new Map<number, object>();
  /** Of partitions that were closed here. */
  readonly #lastAnchors = new Map<number, Anchor>();
  #isOver = false;
  readonly #awaiting = new Map<number, PromiseWithResolvers<void>>();
  readonly #refusing: Sessions<StreamRequest>;

  constructor(options: OpenPartitionsOptions) {
    this.#options = options;
    this.#refusing = new Sessions({
      server: "sluice",
      resumeMs: options.resumeMs,
      heartbeatMs: HEARTBEAT_MS,
      handshakeMs: HANDSHAKE_MS,
      clock: new SystemClock(),
      defer: setImmediate,
      open: async (_, { partition }) => {
        this.checkReadable(partition);
        throw moved(partition, this.#whyNot(partition));
      },
    });
  }

  /** Takes a stream; one that comes a little too early waits. */
  accept(partition: number, socket: ServerSocket, admit: Admit): void {
    const { partitions } = this.#options;
    if (partitions.isServed(partition)) partitions.accept(partition, socket, admit);
    else if (this.#isReadable(partition) && this.#options.isExpected(partition))
      void this.#acceptSoon(partition, socket, admit);
    else this.#refusing.accept(socket, { partition });
  }

  brokerOf(partition: number): LocalBroker | undefined {
    return this.#open.get(partition)?.broker;
  }

  /** Whether its log could be read the last time, as far as that was tried here. */
  #isReadable(partition: number): boolean {
    const { code } = this.#options.troubleOf(partition) ?? {};
    return code !== "LOG_DAMAGED" && code !== "LOG_VERSION";
  }

  /** Throws what is wrong with a log that cannot be read: waiting for it is of no use. */
  checkReadable(partition: number): void {
    if (!this.#isReadable(partition)) throw this.#options.troubleOf(partition);
  }

  /** Resolves when the partition is served here, or will not be in a moment. */
  async served(partition: number): Promise<void> {
    const { clock, partitions } = this.#options;
    if (partitions.isServed(partition)) return;
    const opened = this.#awaiting.get(partition) ?? Promise.withResolvers<void>();
    this.#awaiting.set(partition, opened);
    const late = Promise.withResolvers<void>();
    const timer = clock.at(clock.now() + SOON_MS, late.resolve);
    await Promise.race([opened.promise, late.promise]);
    timer.cancel();
  }

  /** Owners may have changed: calls must not wait here for a partition that is elsewhere. */
  look(): void {
    for (const partition of [...this.#awaiting.keys()]) {
      if (!this.#options.isExpected(partition)) this.#tellWaiting(partition);
    }
  }

  #tellWaiting(partition: number): void {
    this.#awaiting.get(partition)?.resolve();
    this.#awaiting.delete(partition);
  }

  async warm(partition: number): Promise<void> {
    const { followLog } = this.#options;
    if (followLog === undefined || this.#isOver) return;
    const known = this.#warm.get(partition);
    if (known !== undefined) return void (await Promise.race([known.log.caughtUp, known.opening]));
    this.cool(partition);
    const awaited = {};
    this.#awaited.set(partition, awaited);
    const log = await followLog(partition);
    if (this.#awaited.get(partition) !== awaited) {
      await log.close().catch(() => {});
      throw moved(partition, "it is not about to come here any more");
    }
    const opening = this.#openBroker(partition, log);
    opening.catch(() => {});
    this.#warm.set(partition, { log, opening });
    await Promise.race([log.caughtUp, opening]);
  }

  async standBy(partition: number): Promise<void> {
    await this.warm(partition);
    await this.#warm.get(partition)?.opening;
  }

  cool(partition: number): void {
    const warm = this.#takeWarm(partition);
    if (warm !== undefined) void leave(warm);
  }

  #takeWarm(partition: number): WarmPartition | undefined {
    const warm = this.#warm.get(partition);
    this.#warm.delete(partition);
    this.#awaited.delete(partition);
    return warm;
  }

  async open(partition: number, known: KnownLog): Promise<void> {
    if (!(await this.#openWarm(partition, known.anchor))) {
      const log = await this.#options.openLog(partition, known);
      try {
        const broker = await this.#openBroker(partition, log);
        this.#open.set(partition, { log, broker });
      } catch (error) {
        await log.close().catch(() => {});
        throw error;
      }
    }
    if (this.#isOver) {
      await this.close(partition);
      throw moved(partition, "the node has ended");
    }
    this.resume(partition);
  }

  /** What was read ahead is used, if it is good for anything. */
  async #openWarm(partition: number, anchor: Anchor | undefined): Promise<boolean> {
    const warm = this.#takeWarm(partition);
    if (warm === undefined) return false;
    try {
      await warm.log.takeOver(anchor);
      const broker = await warm.opening;
      this.#open.set(partition, { log: warm.log, broker });
      return true;
    } catch {
      // Its owner has trimmed the log meanwhile, or it was cut off: all from the beginning.
      await leave(warm);
      return false;
    }
  }

  #openBroker(partition: number, log: Log): Promise<LocalBroker> {
    const { clock, broker, onFailed, partitions, count } = this.#options;
    const homes = partitions.homes(partition, count);
    const onFailure = (error: SluiceError): void => {
      if (this.#open.get(partition)?.log === log) onFailed(partition, error);
    };
    return openBroker({ ...broker, log, clock, onFailure, homes });
  }

  rest(partition: number): void {
    this.#options.partitions.withdraw(partition);
  }

  resume(partition: number): void {
    const one = this.#open.get(partition);
    if (one === undefined) return;
    const { partitions, onServed } = this.#options;
    partitions.serve(partition, one.broker);
    this.#tellWaiting(partition);
    onServed(partition);
  }

  async close(partition: number): Promise<void> {
    const one = this.#open.get(partition);
    this.rest(partition);
    this.#open.delete(partition);
    await one?.broker.close();
    if (one?.log.anchor !== undefined) this.#lastAnchors.set(partition, one.log.anchor);
  }

  anchorOf(partition: number): Anchor | undefined {
    return this.#open.get(partition)?.log.anchor ?? this.#lastAnchors.get(partition);
  }

  /** No call is served any more. What the logs still take is written. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#refusing.close();
    this.#awaited.clear();
    for (const partition of [...this.#warm.keys()]) this.cool(partition);
    const open = [...this.#open.keys()];
    await Promise.all(open.map((partition) => this.close(partition).catch(() => {})));
  }

  async prove(partition: number): Promise<void> {
    const one = this.#open.get(partition);
    if (one === undefined) throw moved(partition, "it is not open here");
    await one.log.append(NO_FACTS);
  }

  async #acceptSoon(partition: number, socket: ServerSocket, admit: Admit): Promise<void> {
    const early: Uint8Array[] = [];
    let isGone = false;
    socket.onmessage = (message) => early.push(message);
    socket.onclose = () => {
      isGone = true;
    };
    await this.served(partition);
    if (isGone) return;
    const { partitions } = this.#options;
    if (partitions.isServed(partition)) partitions.accept(partition, socket, admit);
    else this.#refusing.accept(socket, { partition });
    for (const message of early) socket.onmessage(message);
  }

  #whyNot(partition: number): string {
    if (this.#open.has(partition)) return RESTING;
    const trouble = this.#options.troubleOf(partition);
    if (trouble === undefined) return "this node does not serve it";
    return trouble.code === "INTERNAL" ? UNEXPECTED : trouble.message;
  }
}

async function leave({ log, opening }: WarmPartition): Promise<void> {
  await log.close().catch(() => {});
  await opening.then((broker) => broker.close()).catch(() => {});
}
