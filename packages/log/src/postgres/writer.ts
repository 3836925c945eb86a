import type { SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import {
  POSTGRES_GROUP_BYTES_MAX,
  POSTGRES_IN_FLIGHT_MAX,
  POSTGRES_RETRY_MS,
  POSTGRES_RETRY_MS_MAX,
  POSTGRES_ROWS_MAX,
} from "../limits.ts";
import type { Position } from "../log.ts";
import type { Entries, Entry } from "./entries.ts";
import { isPassing, logFailed, reasonOf, toLogError } from "./errors.ts";
import type { PostgresSettings } from "./options.ts";
import type { PostgresSession } from "./session.ts";

/** Entries that are stored together or not at all, and who waits for them. */
interface Outgoing {
  readonly entries: readonly Entry[];
  readonly bytes: number;
  readonly waiter: Waiter;
}

export interface Waiter {
  resolve(): void;
  reject(error: SluiceError): void;
}

const TAKEN = "another owner has taken over";

/**
 * The one writer of a log. An entry gets its position when it is put here; the primary key lets
 * each position be taken once, and each statement names the entry before it, so what is stored is
 * stored in order, once, or not at all.
 *
 *   flowing    up to a few statements are on their way; each carries all that had gathered
 *   settling   the connection was lost, or a position was taken: the log is asked which of the
 *              statements without an answer were stored. Then the rest is sent again
 *   failed     nothing was stored until the deadline, or another owner has the log
 *
 * A statement of a lost connection may still be running while the log is asked. The one that is
 * sent again waits for it at the primary key, finds the position taken, and the log is asked again.
 */
export class PostgresWriter {
  readonly failed: Promise<SluiceError>;
  readonly #settings: PostgresSettings;
  readonly #session: PostgresSession;
  readonly #entries: Entries;
  readonly #fence: Position;
  #state: "flowing" | "settling" | "failed" = "flowing";
  /** Not stored yet, the oldest first; the first `#sent` of them are on their way. */
  readonly #queue: Outgoing[] = [];
  #sent = 0;
  #inFlight = 0;
  /** Raised when answers that are still to come do not count any more. */
  #round = 0;
  #next: Position;
  /** The newest entry that is known to be stored. */
  #stored: Entry;
  #error: SluiceError | undefined;
  readonly #tellFailed: (error: SluiceError) => void;
  #isSendingSoon = false;
  /** To settle, since something was stored. */
  #tries = 0;
  /** When something was stored last, or the queue was empty. */
  #storedAt = 0;
  readonly #onEmpty: (() => void)[] = [];

  constructor(
    settings: PostgresSettings,
    session: PostgresSession,
    entries: Entries,
    fence: Entry,
  ) {
    this.#settings = settings;
    this.#session = session;
    this.#entries = entries;
    this.#fence = fence.position;
    this.#stored = fence;
    this.#next = fence.position + 1;
    const { promise, resolve } = Promise.withResolvers<SluiceError>();
    this.failed = promise;
    this.#tellFailed = resolve;
    session.onLost = (error) => this.#onLost(error);
  }

  /** The position of the next entry that is put here. */
  get next(): Position {
    return this.#next;
  }

  get error(): SluiceError | undefined {
    return this.#error;
  }

  /** The bytes must not change until they are stored. */
  put(messages: readonly Uint8Array[], waiter: Waiter): void {
    if (this.#error !== undefined) throw this.#error;
    if (this.#queue.length === 0) this.#storedAt = performance.now();
    const entries = messages.map((entry) => ({ position: this.#next++, entry }));
    const bytes = messages.reduce((sum, { length }) => sum + length, 0);
    this.#queue.push({ entries, bytes, waiter });
    if (this.#isSendingSoon) return;
    // What is put in one turn goes out together.
    this.#isSendingSoon = true;
    queueMicrotask(() => {
      this.#isSendingSoon = false;
      this.#send();
    });
  }

  /** Resolves when nothing waits to be stored, or the writer has failed. */
  async settled(): Promise<void> {
    if (this.#queue.length === 0) return;
    await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** Ends everything with this error, or with the one that did so before: answers which. */
  fail(error: SluiceError): SluiceError {
    if (this.#error !== undefined) return this.#error;
    this.#state = "failed";
    this.#error = error;
    this.#round++;
    const queue = this.#queue.splice(0);
    this.#tellFailed(error);
    for (const { waiter } of queue) waiter.reject(error);
    this.#tellEmpty();
    return error;
  }

  #send(): void {
    if (this.#state !== "flowing") return;
    const client = this.#session.current;
    if (client === undefined) return void this.#settle();
    while (this.#inFlight < POSTGRES_IN_FLIGHT_MAX && this.#sent < this.#queue.length) {
      const group = this.#nextGroup();
      this.#sent += group.length;
      this.#inFlight++;
      void this.#insert(client, group, this.#round);
    }
  }

  /** At least one, and as many more as one statement takes. */
  #nextGroup(): Outgoing[] {
    const group: Outgoing[] = [];
    let rows = 0;
    let bytes = 0;
    for (const outgoing of this.#queue.slice(this.#sent)) {
      rows += outgoing.entries.length;
      bytes += outgoing.bytes;
      const isFull = rows > POSTGRES_ROWS_MAX || bytes > POSTGRES_GROUP_BYTES_MAX;
      if (isFull && group.length > 0) break;
      group.push(outgoing);
    }
    return group;
  }

  async #insert(client: Client, group: readonly Outgoing[], round: number): Promise<void> {
    const entries = group.flatMap((outgoing) => outgoing.entries);
    let problem: unknown;
    try {
      const count = await this.#entries.insert(client, entries, this.#fence);
      if (count !== entries.length)
        problem = new Error(`${count} of ${entries.length} were stored`);
    } catch (error) {
      problem = error;
    }
    if (round !== this.#round) return;
    if (problem === undefined) return this.#onStored(group.length);
    // Two reasons to ask: a position is taken, or the answer is lost. All else is final.
    if (!isTaken(problem) && !isPassing(problem)) return this.#failBy(problem);
    if (isPassing(problem)) this.#session.drop();
    void this.#settle(problem);
  }

  /** The oldest ones are stored: their callers are answered, and others take their place. */
  #onStored(count: number): void {
    const stored = this.#queue.splice(0, count);
    this.#sent -= count;
    this.#inFlight--;
    this.#storedAt = performance.now();
    this.#tries = 0;
    this.#stored = stored.at(-1)!.entries.at(-1)!;
    for (const { waiter } of stored) waiter.resolve();
    if (this.#queue.length === 0) this.#tellEmpty();
    else this.#send();
  }

  #onLost(error: Error): void {
    if (this.#state === "flowing" && this.#queue.length > 0) void this.#settle(error);
  }

  /** Finds out what was stored, and sends the rest again; until the deadline. */
  async #settle(cause?: unknown): Promise<void> {
    this.#state = "settling";
    this.#round++;
    this.#sent = 0;
    this.#inFlight = 0;
    let reason = cause;
    for (;;) {
      await this.#pause();
      if (this.#state !== "settling") return;
      if (performance.now() - this.#storedAt >= this.#settings.deadlineMs) {
        return this.#failLate(reason);
      }
      try {
        await this.#ask(await this.#session.connected());
        break;
      } catch (error) {
        reason = error;
        if (!isPassing(error)) return this.#failBy(error);
        this.#session.drop();
      }
    }
    if (this.#state !== "settling") return;
    this.#state = "flowing";
    this.#send();
  }

  /** The first try is made at once, each further one without success later than the one before. */
  async #pause(): Promise<void> {
    const pauseMs = Math.min(POSTGRES_RETRY_MS * 2 ** (this.#tries - 1), POSTGRES_RETRY_MS_MAX);
    if (this.#tries++ > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }

  /** What was confirmed must still be there; of the rest, the beginning that was stored counts. */
  async #ask(client: Client): Promise<void> {
    const { name } = this.#settings;
    const confirmed = await this.#entries.read(client, this.#stored.position);
    if (confirmed === undefined || Buffer.compare(confirmed, this.#stored.entry) !== 0) {
      const what = `the database has lost entry ${this.#stored.position}, which was confirmed`;
      throw logFailed(name, "appending", `${what}: was it restored, or did a standby take over?`);
    }
    while (this.#queue.length > 0) {
      const { position, entry } = this.#queue[0]!.entries[0]!;
      const found = await this.#entries.read(client, position);
      if (found === undefined) return;
      if (Buffer.compare(found, entry) !== 0) throw taken(name);
      this.#inFlight++;
      this.#sent++;
      this.#onStored(1);
    }
  }

  #tellEmpty(): void {
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #failLate(cause: unknown): void {
    const { deadlineMs, name } = this.#settings;
    const reason = `nothing was confirmed for ${deadlineMs} ms: ${reasonOf(cause)}`;
    this.fail(logFailed(name, "appending", reason, cause));
  }

  #failBy(error: unknown): void {
    this.fail(toLogError(this.#settings.name, "appending", error));
  }
}

const UNIQUE_VIOLATION = "23505";

function isTaken(error: unknown): boolean {
  const { code, message = "" } = error as { code?: string; message?: string };
  return code === UNIQUE_VIOLATION || message.endsWith("were stored");
}

export function taken(log: string): SluiceError {
  const error = logFailed(log, "appending", TAKEN);
  error.details.isTaken = true;
  return error;
}
