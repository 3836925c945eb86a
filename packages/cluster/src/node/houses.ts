/** The partitions that this node has open: each a broker on its log, and the streams to it. */
import { type LocalBroker, type OpenOptions, openBroker } from "@sluice/broker";
import type { Log } from "@sluice/log";
import { type Clock, type SluiceError, SystemClock } from "@sluice/protocol";
import type { Admit } from "@sluice/server";
import { type ServerSocket, Sessions } from "@sluice/server/stream";
import type { LocalPartitions } from "../partitions/local-partitions.ts";
import { SOON_MS } from "./limits.ts";
import { moved } from "./owner-dial.ts";
import type { PartitionHost } from "./tenure.ts";

/** A log that is read while somebody else still writes to it. */
export interface FollowedLog extends Log {
  /** Resolves when its replay has come to what was the end at that time. */
  readonly caughtUp: Promise<void>;
  /** Fences whoever writes to it; then its replay comes to its end. */
  takeOver(): Promise<void>;
}

export interface HousesOptions {
  readonly clock: Clock;
  /** Fences whoever had the log before. */
  readonly openLog: (partition: number, hasLog: boolean) => Promise<Log>;
  /** Absent: nothing can be read ahead. */
  readonly followLog?: ((partition: number) => Promise<FollowedLog>) | undefined;
  readonly broker: Omit<OpenOptions, "log" | "clock" | "onFailure" | "homes">;
  readonly partitions: LocalPartitions;
  /** How many there are in the cluster. */
  readonly count: number;
  readonly resumeMs: number;
  /** Whether the partition is about to be served here. */
  readonly isExpected: (partition: number) => boolean;
  /** Why it could not be opened the last time. */
  readonly troubleOf: (partition: number) => string | undefined;
  readonly onFailed: (partition: number, error: SluiceError) => void;
  /** A partition is open and served from now on. */
  readonly onServed: (partition: number) => void;
}

interface House {
  readonly log: Log;
  readonly broker: LocalBroker;
  /** Absent while nobody is served. */
  sessions: Sessions<Admit> | undefined;
}

/** A broker that reads along, until its log is taken over. */
interface Guest {
  readonly log: FollowedLog;
  readonly opening: Promise<LocalBroker>;
}

interface Visit {
  readonly partition: number;
}

const HEARTBEAT_MS = 2_000;
const HANDSHAKE_MS = 5_000;
const RESTING = "its log does not answer, so nothing could be confirmed";
const NO_FACTS = new Uint8Array(0);

export class Houses implements PartitionHost {
  readonly #options: HousesOptions;
  readonly #houses = new Map<number, House>();
  readonly #guests = new Map<number, Guest>();
  /** Logs that are about to be read ahead; what is not here any more is not wanted. */
  readonly #awaited = new Map<number, object>();
  #isOver = false;
  readonly #opened = new Map<number, PromiseWithResolvers<void>>();
  readonly #refusing: Sessions<Visit>;

  constructor(options: HousesOptions) {
    this.#options = options;
    this.#refusing = new Sessions({
      ...this.#sessionOptions("sluice"),
      open: async (_, { partition }) => {
        throw moved(partition, this.#whyNot(partition));
      },
    });
  }

  /** Takes a stream; one that comes a little too early waits. */
  accept(partition: number, socket: ServerSocket, admit: Admit): void {
    const sessions = this.#houses.get(partition)?.sessions;
    if (sessions !== undefined) sessions.accept(socket, admit);
    else if (this.#options.isExpected(partition)) void this.#acceptSoon(partition, socket, admit);
    else this.#refusing.accept(socket, { partition });
  }

  brokerOf(partition: number): LocalBroker | undefined {
    return this.#houses.get(partition)?.broker;
  }

  /** Resolves when the partition is served here, or will not be in a moment. */
  async served(partition: number): Promise<void> {
    if (this.#houses.get(partition)?.sessions !== undefined) return;
    const { clock } = this.#options;
    const opened = this.#opened.get(partition) ?? Promise.withResolvers<void>();
    this.#opened.set(partition, opened);
    const late = Promise.withResolvers<void>();
    const timer = clock.at(clock.now() + SOON_MS, late.resolve);
    await Promise.race([opened.promise, late.promise]);
    timer.cancel();
  }

  /** Owners may have changed: nobody waits here for what is to be found elsewhere. */
  look(): void {
    for (const partition of [...this.#opened.keys()]) {
      if (!this.#options.isExpected(partition)) this.#tellWaiting(partition);
    }
  }

  #tellWaiting(partition: number): void {
    this.#opened.get(partition)?.resolve();
    this.#opened.delete(partition);
  }

  async warm(partition: number): Promise<void> {
    const { followLog } = this.#options;
    if (followLog === undefined || this.#isOver) return;
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
    this.#guests.set(partition, { log, opening });
    await Promise.race([log.caughtUp, opening]);
  }

  cool(partition: number): void {
    const guest = this.#takeGuest(partition);
    if (guest !== undefined) void leave(guest);
  }

  #takeGuest(partition: number): Guest | undefined {
    const guest = this.#guests.get(partition);
    this.#guests.delete(partition);
    this.#awaited.delete(partition);
    return guest;
  }

  async open(partition: number, hasLog = false): Promise<void> {
    if (!(await this.#openGuest(partition))) {
      const log = await this.#options.openLog(partition, hasLog);
      try {
        const broker = await this.#openBroker(partition, log);
        this.#houses.set(partition, { log, broker, sessions: undefined });
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
  async #openGuest(partition: number): Promise<boolean> {
    const guest = this.#takeGuest(partition);
    if (guest === undefined) return false;
    try {
      await guest.log.takeOver();
      const broker = await guest.opening;
      this.#houses.set(partition, { log: guest.log, broker, sessions: undefined });
      return true;
    } catch {
      // Its owner has trimmed the log meanwhile, or it was cut off: all from the beginning.
      await leave(guest);
      return false;
    }
  }

  #openBroker(partition: number, log: Log): Promise<LocalBroker> {
    const { clock, broker, onFailed, partitions, count } = this.#options;
    const homes = partitions.homes(partition, count);
    const onFailure = (error: SluiceError): void => {
      if (this.#houses.get(partition)?.log === log) onFailed(partition, error);
    };
    return openBroker({ ...broker, log, clock, onFailure, homes });
  }

  rest(partition: number): void {
    const house = this.#houses.get(partition);
    house?.sessions?.close();
    if (house !== undefined) house.sessions = undefined;
    this.#options.partitions.withdraw(partition);
  }

  resume(partition: number): void {
    const house = this.#houses.get(partition);
    if (house === undefined) return;
    const { partitions, onServed } = this.#options;
    partitions.serve(partition, house.broker);
    house.sessions = new Sessions<Admit>({
      ...this.#sessionOptions(`partition ${partition}`),
      open: async (apiKey, admit) => {
        const port = partitions.hosted(partition);
        if (port === undefined) throw moved(partition, "it has just left");
        return admit(apiKey, port);
      },
    });
    this.#tellWaiting(partition);
    onServed(partition);
  }

  async close(partition: number): Promise<void> {
    const house = this.#houses.get(partition);
    this.rest(partition);
    this.#houses.delete(partition);
    await house?.broker.close();
  }

  /** Nobody is served any more; what the logs still take is written. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#refusing.close();
    this.#awaited.clear();
    for (const partition of [...this.#guests.keys()]) this.cool(partition);
    const open = [...this.#houses.keys()];
    await Promise.all(open.map((partition) => this.close(partition).catch(() => {})));
  }

  async prove(partition: number): Promise<void> {
    const house = this.#houses.get(partition);
    if (house === undefined) throw moved(partition, "it is not open here");
    await house.log.append(NO_FACTS);
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
    const sessions = this.#houses.get(partition)?.sessions;
    if (sessions !== undefined) sessions.accept(socket, admit);
    else this.#refusing.accept(socket, { partition });
    for (const message of early) socket.onmessage(message);
  }

  #whyNot(partition: number): string {
    if (this.#houses.has(partition)) return RESTING;
    return this.#options.troubleOf(partition) ?? "it is not served here";
  }

  #sessionOptions(server: string) {
    return {
      server,
      resumeMs: this.#options.resumeMs,
      heartbeatMs: HEARTBEAT_MS,
      handshakeMs: HANDSHAKE_MS,
      clock: new SystemClock(),
      defer: setImmediate,
    };
  }
}

async function leave({ log, opening }: Guest): Promise<void> {
  await log.close().catch(() => {});
  await opening.then((broker) => broker.close()).catch(() => {});
}
