import { randomUUID } from "node:crypto";
import { SluiceError } from "@sluice/protocol";
import {
  ENTRY_BYTES_MAX,
  POSTGRES_PAGE_BYTES,
  POSTGRES_PAGE_ROWS_MAX,
  POSTGRES_PAGE_ROWS_MIN,
  POSTGRES_RETRY_MS,
} from "../limits.ts";
import type { Anchor, Batch, Log, Position, Span } from "../log.ts";
import { LogStage } from "../log-stage.ts";
import { BatchReader } from "../messages/batch-reader.ts";
import { type MessageStore, storeDamaged } from "../messages/damage.ts";
import { encodeMessage, FACTS, FENCE, HEAD_BYTES } from "../messages/message.ts";
import { Spans } from "../messages/spans.ts";
import { StoredBatches } from "../messages/stored-batches.ts";
import { checkDurability } from "./durability.ts";
import { Entries, findLog, type StoredEntry } from "./entries.ts";
import { isPassing, toLogError } from "./errors.ts";
import { type PostgresLogOptions, type PostgresSettings, parsePostgresOptions } from "./options.ts";
import { lockedBy, lockLog } from "./owner-lock.ts";
import { ensureLogTables } from "./schema.ts";
import { PostgresSession } from "./session.ts";
import { PostgresWriter, taken } from "./writer.ts";

/**
 * A log in a table of PostgreSQL. Each batch is an entry, or several when it is large; its
 * position is that of the first. Opening the log puts a fence behind its newest entry, where the
 * former owner's next entry would go: see `entries.ts`, and `writer.ts` for the writing.
 */
export class PostgresLog implements Log {
  readonly #settings: PostgresSettings;
  readonly #entries: Entries;
  /** Appends have a connection of their own, so that a long read does not delay them. */
  readonly #writing: PostgresSession;
  readonly #reading: PostgresSession;
  readonly #writer: PostgresWriter;
  readonly #fence: Position;
  readonly #stage = new LogStage();
  readonly #spans: Spans;
  readonly #store: MessageStore;
  readonly #stored: StoredBatches;
  readonly #reader: BatchReader;
  readonly #openedBytes: number;
  #anchor: Anchor | undefined;
  #isReplayed = false;
  #replayedAt: number | undefined;
  #trimming: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  private constructor(settings: PostgresSettings, opened: Opened) {
    this.#settings = settings;
    this.#entries = opened.entries;
    this.#writing = opened.writing;
    this.#reading = opened.reading;
    this.#openedBytes = opened.sizeBytes;
    this.#fence = opened.fence.position;
    this.#writer = new PostgresWriter(settings, opened.writing, opened.entries, opened.fence);
    this.#spans = new Spans(settings.segmentBytes);
    this.#store = { kind: "log", name: settings.name };
    this.#reader = new BatchReader(this.#store);
    this.#stored = new StoredBatches({
      store: this.#store,
      cacheBytes: settings.readCacheBytes,
      spans: this.#spans,
      chain: this.#reader.chain,
      fetch: (at) => this.#ask("reading", (client) => this.#entries.read(client, at)),
    });
    // A log that has failed is of no use; its connections and its lock are for others.
    void this.failed.then(() => Promise.all([this.#writing.close(), this.#reading.close()]));
  }

  static async open(options: PostgresLogOptions): Promise<PostgresLog> {
    const settings = parsePostgresOptions(options);
    const writing = new PostgresSession(settings, { purpose: "writes", pipeline: true });
    const reading = new PostgresSession(settings, { purpose: "reads" });
    try {
      return new PostgresLog(settings, await takeOver(settings, writing, reading));
    } catch (error) {
      await Promise.all([writing.close(), reading.close()]);
      throw toLogError(settings.name, "opening", error);
    }
  }

  get anchor(): Anchor | undefined {
    return this.#anchor;
  }

  get failed(): Promise<SluiceError> {
    return this.#writer.failed;
  }

  /** When the own fence was stored. */
  get replayedAt(): number | undefined {
    return this.#replayedAt;
  }

  get sizeBytes(): number {
    return this.#isReplayed ? this.#spans.sizeBytes : this.#openedBytes;
  }

  limitSpans(sizeBytes: number): void {
    this.#spans.limit(sizeBytes);
  }

  spans(): readonly Span[] {
    return this.#spans.list();
  }

  replay(): AsyncGenerator<Batch, void, undefined> {
    this.#stage.beginReplay();
    return this.#replay();
  }

  append(facts: Uint8Array): Promise<Position> {
    const refusal = this.#stage.refusalOf(facts) ?? this.#writer.error;
    if (refusal !== undefined) return Promise.reject(refusal);
    const position = this.#writer.next;
    const messages = this.#encode(position, facts);
    const last = position + messages.length - 1;
    const chain = this.#reader.chain.at(last)!;
    return new Promise((resolve, reject) => {
      const onStored = (): void => {
        this.#anchor = { position: last, chain };
        for (const [index, message] of messages.entries())
          this.#stored.keep(position + index, message);
        this.#spans.add(position, last + 1, facts.length + messages.length * HEAD_BYTES);
        resolve(position);
      };
      this.#writer.put(messages, { resolve: onStored, reject });
    });
  }

  read(position: Position, offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    this.#stage.checkReady();
    return this.#stored.read(position, offset, length);
  }

  trim(before: Position): Promise<void> {
    const trimmed = this.#trimming.then(() => this.#trim(before));
    this.#trimming = trimmed.catch(() => {});
    return trimmed;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #encode(position: Position, facts: Uint8Array): Uint8Array[] {
    const { chain } = this.#reader;
    const head = { kind: FACTS, lengthBytes: facts.length, partBytes: ENTRY_BYTES_MAX, position };
    const messages: Uint8Array[] = [];
    do {
      const index = messages.length;
      const body = facts.subarray(index * ENTRY_BYTES_MAX, (index + 1) * ENTRY_BYTES_MAX);
      const place = { index, fence: this.#fence, chain: chain.value };
      const message = encodeMessage({ ...head, ...place, kind: FACTS }, body);
      chain.add(position + index, message);
      messages.push(message);
    } while (messages.length * ENTRY_BYTES_MAX < facts.length);
    return messages;
  }

  async *#replay(): AsyncGenerator<Batch, void, undefined> {
    const reader = this.#reader;
    let storedAt: number | undefined;
    let expected: Position | undefined;
    for await (const stored of this.#all()) {
      const { position: sequence, entry } = stored;
      if (sequence !== (expected ?? sequence)) {
        throw this.#damaged(expected!, `the entries up to ${sequence} are missing`);
      }
      expected = sequence + 1;
      storedAt = stored.storedAt;
      const batch = reader.take(sequence, entry);
      this.#anchor = { position: sequence, chain: reader.chain.value };
      if (batch === undefined) continue;
      const { lastParts: parts } = reader;
      this.#spans.add(
        batch.position,
        batch.position + parts,
        batch.facts.length + parts * HEAD_BYTES,
      );
      yield { ...batch, storedAt };
      if (this.#stage.isClosed) break;
    }
    if (!this.#stage.isClosed) this.#checkEnd(expected);
    this.#stage.endReplay();
    this.#isReplayed = true;
    this.#replayedAt = storedAt;
  }

  /** The own fence was confirmed, and so was what an earlier owner has noted. */
  #checkEnd(expected: Position | undefined): void {
    if (expected !== this.#fence + 1) {
      throw this.#damaged(this.#fence, "this entry was confirmed and is missing");
    }
    const { anchor } = this.#settings;
    if (anchor !== undefined) this.#reader.chain.checkAnchor(anchor);
  }

  /** All entries up to the own fence; the next page is fetched while one is gone through. */
  async *#all(): AsyncGenerator<StoredEntry, void, undefined> {
    let count = POSTGRES_PAGE_ROWS_MIN;
    let next = this.#page(1, count);
    for (;;) {
      const page = (await next).filter(({ position }) => position <= this.#fence);
      const last = page.at(-1)?.position;
      if (last === undefined) return;
      count = rowsOf(page);
      if (last < this.#fence) {
        next = this.#page(last + 1, count);
        // A caller that stops in the middle does not wait for it.
        next.catch(() => {});
      }
      yield* page;
      if (last === this.#fence) return;
    }
  }

  #page(from: Position, count: number): Promise<StoredEntry[]> {
    return this.#ask("replaying", (client) => this.#entries.page(client, from, count));
  }

  async #trim(before: Position): Promise<void> {
    this.#stage.checkReady();
    if (this.#writer.error !== undefined) throw this.#writer.error;
    const end = this.#spans.trimmed(before);
    if (end === undefined) return;
    try {
      const isOwner = await this.#ask("trimming", (client) =>
        this.#entries.trim(client, end, this.#fence),
      );
      if (!isOwner) throw taken(this.#settings.name);
    } catch (error) {
      throw this.#writer.fail(toLogError(this.#settings.name, "trimming", error));
    }
    this.#spans.forget(end);
    this.#reader.chain.forget(end);
  }

  /** What changes nothing, or may be done twice, is asked again until the deadline. */
  #ask<T>(doing: string, act: Act<T>): Promise<T> {
    return untilAnswered(this.#settings, this.#reading, doing, act);
  }

  #damaged(position: Position, what: string): SluiceError {
    return storeDamaged(this.#store, position, what);
  }

  async #close(): Promise<void> {
    this.#stage.close();
    await this.#trimming;
    await this.#writer.settled();
    await Promise.all([this.#writing.close(), this.#reading.close()]);
  }
}

interface Opened {
  readonly entries: Entries;
  readonly writing: PostgresSession;
  readonly reading: PostgresSession;
  readonly fence: { readonly position: Position; readonly entry: Uint8Array };
  readonly sizeBytes: number;
}

type Client = Awaited<ReturnType<PostgresSession["connected"]>>;
type Act<T> = (client: Client) => Promise<T>;

async function takeOver(
  settings: PostgresSettings,
  writing: PostgresSession,
  reading: PostgresSession,
): Promise<Opened> {
  const { name, create } = settings;
  const log = await untilAnswered(settings, reading, "opening", async (client) => {
    await checkDurability(client, settings);
    await ensureLogTables(client);
    return findLog(client, name, create);
  });
  if (log === undefined) {
    const message = `there is no log ${name} in this database`;
    throw new SluiceError("NOT_FOUND", message, { log: name });
  }
  if (settings.exclusive) {
    const own = async (client: Client): Promise<boolean> => lockLog(client, log);
    const isLocked = await untilAnswered(settings, writing, "opening", own);
    if (!isLocked) throw await lockedBy(await reading.connected(), log, name);
    // A connection that was lost has lost the lock, too.
    writing.onConnect = own;
  }
  const entries = new Entries(log);
  const sizeBytes = await untilAnswered(settings, reading, "opening", (client) =>
    entries.sizeBytes(client),
  );
  const fence = await untilAnswered(settings, reading, "opening", (client) =>
    fenceOff(entries, client),
  );
  await writing.connected();
  return { entries, writing, reading, fence, sizeBytes };
}

async function fenceOff(entries: Entries, client: Client): Promise<Opened["fence"]> {
  // Random, so that two fences are never the same bytes.
  const owner = Buffer.from(randomUUID());
  let entry!: Uint8Array;
  const position = await entries.setFence(client, (at) => {
    const place = { position: at, fence: at, index: 0, partBytes: 1, chain: 0 };
    entry = encodeMessage({ ...place, kind: FENCE, lengthBytes: owner.length }, owner);
    return entry;
  });
  return { position, entry };
}

async function untilAnswered<T>(
  settings: PostgresSettings,
  session: PostgresSession,
  doing: string,
  act: Act<T>,
): Promise<T> {
  const endAt = performance.now() + settings.deadlineMs;
  for (;;) {
    try {
      return await act(await session.connected());
    } catch (error) {
      if (!isPassing(error) || performance.now() + POSTGRES_RETRY_MS >= endAt) {
        throw toLogError(settings.name, doing, error);
      }
      session.drop();
      await new Promise((resolve) => setTimeout(resolve, POSTGRES_RETRY_MS));
    }
  }
}

/** How many rows like these make a page. */
function rowsOf(page: readonly StoredEntry[]): number {
  const bytes = page.reduce((sum, { entry }) => sum + entry.length, 0);
  const rows = Math.floor(POSTGRES_PAGE_BYTES / Math.max(1, bytes / page.length));
  return Math.min(Math.max(rows, POSTGRES_PAGE_ROWS_MIN), POSTGRES_PAGE_ROWS_MAX);
}
