import { randomUUID } from "node:crypto";
import type { StreamInfo } from "@nats-io/jetstream";
import type { SluiceError } from "@sluice/protocol";
import { ENVELOPE_BYTES, MESSAGE_BYTES_MAX } from "../limits.ts";
import type { Anchor, Batch, Log, Position, Span } from "../log.ts";
import { LogStage } from "../log-stage.ts";
import { BatchReader } from "../messages/batch-reader.ts";
import type { Chain } from "../messages/chain.ts";
import { encodeMessage, FACTS, HEAD_BYTES, type MessageHead, TRIM } from "../messages/message.ts";
import { Spans } from "../messages/spans.ts";
import { StoredBatches } from "../messages/stored-batches.ts";
import { streamDamaged, toLogError } from "./errors.ts";
import { setFence } from "./fence.ts";
import { NatsStream, type StoredMessage } from "./nats-stream.ts";
import { type NatsLogOptions, type NatsSettings, parseNatsOptions } from "./options.ts";
import type { Pipeline } from "./pipeline.ts";
import { replayStream } from "./replay.ts";
import { Tail } from "./tail.ts";

const NO_BODY = new Uint8Array(0);

/** A log that is only read. */
export type ReadLog = Pick<Log, "replay" | "sizeBytes" | "close">;

/**
 * A log in a stream of NATS JetStream. Each batch is a message, or several when it is large; its
 * position is the sequence of the first. Opening the stream fences its former owner,
 * whose next append is refused by the server: see `fence.ts`, and `pipeline.ts` for the writing.
 *
 * A log can also be followed: it is replayed while its owner still writes to it, and the replay
 * waits at the end until `takeOver` fences that owner. A takeover then has little left to read.
 */
export class NatsLog implements Log {
  readonly #settings: NatsSettings;
  readonly #stream: NatsStream;
  readonly #tail: Tail;
  readonly #failure = Promise.withResolvers<SluiceError>();
  /** Undefined while the log is only followed. */
  #pipeline: Pipeline | undefined;
  /** Where the own fence begins. */
  #fence = 0;
  readonly #stage = new LogStage();
  readonly #spans: Spans;
  readonly #stored: StoredBatches;
  readonly #reader: BatchReader;
  #anchor: Anchor | undefined;
  /** What the replay must have found when it is over. */
  #expected: Anchor | undefined;
  readonly #opened: StreamInfo;
  #isReplayed = false;
  #replayedAt: number | undefined;
  #trimming: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  private constructor(settings: NatsSettings, stream: NatsStream, info: StreamInfo) {
    this.#settings = settings;
    this.#stream = stream;
    this.#tail = new Tail(stream, (first) => this.#forget(first));
    this.#opened = info;
    this.#spans = new Spans(settings.segmentBytes);
    const store = { kind: "stream", name: settings.stream } as const;
    this.#reader = new BatchReader(store);
    this.#stored = new StoredBatches({
      store,
      cacheBytes: settings.readCacheBytes,
      spans: this.#spans,
      chain: this.#reader.chain,
      fetch: (sequence) => stream.read(sequence),
      explain: (error) => stream.blamed(error),
    });
    this.#expected = settings.anchor;
  }

  static async open(options: NatsLogOptions): Promise<NatsLog> {
    const settings = parseNatsOptions(options);
    let log: NatsLog | undefined;
    try {
      const stream = await NatsStream.open(settings);
      const info = await stream.info();
      // Before the fence, of which every try would leave another one.
      checkWhole(info);
      log = new NatsLog(settings, stream, info);
      await log.takeOver();
      return log;
    } catch (error) {
      await log?.close();
      throw toLogError(settings.stream, "opening", error);
    }
  }

  /** Opens the log for reading alone; its replay waits at the end until it is taken over. */
  static async follow(options: NatsLogOptions): Promise<NatsLog> {
    const settings = parseNatsOptions(options);
    try {
      const stream = await NatsStream.open(settings);
      return new NatsLog(settings, stream, await stream.info());
    } catch (error) {
      throw toLogError(settings.stream, "opening", error);
    }
  }

  /**
   * Opens the log for reading what it holds now; its owner keeps it. Its replay ends there, and
   * checks the anchor. Nothing can be appended.
   */
  static async read(options: NatsLogOptions): Promise<ReadLog> {
    const log = await NatsLog.follow({ ...options, create: false });
    log.#tail.endAt(log.#opened.state.last_seq);
    return log;
  }

  /** Resolves when a replay has come to what was the end at that time. */
  get caughtUp(): Promise<void> {
    return this.#tail.reached;
  }

  /**
   * Fences its writer: from now on it is ours, and the replay comes to its end. What the owner has
   * trimmed meanwhile was read before, or the replay fails with LOG_FAILED. The replay must have
   * found the anchor by then.
   */
  async takeOver(anchor?: Anchor): Promise<void> {
    this.#expected = anchor ?? this.#expected;
    const fence = await setFence(this.#settings, this.#stream, randomUUID());
    this.#fence = fence.first;
    this.#pipeline = fence.pipeline;
    void fence.pipeline.failed.then(this.#failure.resolve);
    const info = await this.#stream.info();
    checkWhole(info);
    this.#forget(info.state.first_seq);
    this.#tail.endAt(fence.last);
  }

  /** The stream begins there: the owner has trimmed what was before. */
  #forget(first: Position): void {
    this.#spans.cut(first);
    this.#chain.forget(first);
  }

  get #chain(): Chain {
    return this.#reader.chain;
  }

  /** For people. */
  get name(): string {
    return `the stream ${this.#settings.stream}`;
  }

  get anchor(): Anchor | undefined {
    return this.#anchor;
  }

  /** The stream as it was when it was opened. */
  get opened(): StreamInfo {
    return this.#opened;
  }

  get failed(): Promise<SluiceError> {
    return this.#failure.promise;
  }

  /** When the own fence was stored. */
  get replayedAt(): number | undefined {
    return this.#replayedAt;
  }

  get sizeBytes(): number {
    return this.#isReplayed ? this.#spans.sizeBytes : this.#opened.state.bytes;
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
    const pipeline = this.#pipeline;
    const refusal = this.#stage.refusalOf(facts) ?? pipeline?.error;
    if (refusal !== undefined || pipeline === undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const { connection } = this.#settings;
      const room = (connection.info?.max_payload ?? MESSAGE_BYTES_MAX) - ENVELOPE_BYTES;
      const partBytes = Math.min(MESSAGE_BYTES_MAX, room - HEAD_BYTES);
      const position = pipeline.next;
      const head = { lengthBytes: facts.length, partBytes, position };
      const parts = Math.max(1, Math.ceil(facts.length / partBytes));
      const onStored = (): void => {
        this.#spans.add(position, position + parts, facts.length + parts * HEAD_BYTES);
        resolve(position);
      };
      for (let index = 0; index < parts; index++) {
        const body = facts.subarray(index * partBytes, (index + 1) * partBytes);
        const isLast = index === parts - 1;
        this.#put({ ...head, kind: FACTS, index }, body, isLast ? onStored : undefined, reject);
      }
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

  #put(
    head: Omit<MessageHead, "fence" | "chain">,
    body: Uint8Array,
    onStored: (() => void) | undefined,
    reject: (error: SluiceError) => void,
  ): void {
    const pipeline = this.#pipeline!;
    const sequence = pipeline.next;
    const chain = this.#chain;
    const message = encodeMessage({ ...head, fence: this.#fence, chain: chain.value }, body);
    chain.add(sequence, message);
    const resolve = (): void => {
      this.#anchor = { position: sequence, chain: chain.at(sequence)! };
      if (head.kind === FACTS) this.#stored.keep(sequence, message);
      onStored?.();
    };
    pipeline.put(message, { resolve, reject });
  }

  async *#replay(): AsyncGenerator<Batch, void, undefined> {
    try {
      yield* this.#readAll();
    } catch (error) {
      throw await this.#stream.blamed(error);
    }
  }

  async *#readAll(): AsyncGenerator<Batch, void, undefined> {
    const reader = this.#reader;
    const isLast = (sequence: Position): boolean | Promise<boolean> => this.#tail.isLast(sequence);
    let storedAt: number | undefined;
    const onRead = ({ sequence, storedAt: at }: StoredMessage): void => {
      storedAt = at;
      this.#anchor = { position: sequence, chain: reader.chain.value };
    };
    const batches = replayStream(this.#settings, this.#stream, reader, isLast, onRead);
    for await (const batch of batches) {
      const { position, facts } = batch;
      const parts = reader.lastParts;
      this.#spans.add(position, position + parts, facts.length + parts * HEAD_BYTES);
      yield batch;
      if (this.#stage.isClosed) break;
    }
    // A replay that was given up has not come to its end.
    if (!this.#stage.isClosed && this.#expected !== undefined) {
      this.#chain.checkAnchor(this.#expected);
    }
    this.#stage.endReplay();
    // The newest that was heard of its beginning: nothing is trimmed any more.
    this.#spans.cut(this.#spans.cutTo);
    this.#isReplayed = true;
    this.#replayedAt = storedAt;
  }

  async #trim(before: Position): Promise<void> {
    this.#stage.checkReady();
    const end = this.#spans.trimmed(before);
    const pipeline = this.#pipeline!;
    if (pipeline.error !== undefined) throw pipeline.error;
    if (end === undefined) return;
    await this.#checkOwner();
    this.#spans.forget(end);
    this.#chain.forget(end);
    try {
      await this.#stream.purge(end);
    } catch (error) {
      throw pipeline.fail(toLogError(this.#stream.name, "trimming", error));
    }
  }

  /** A purge names no sequence that it must follow, so a note that does so goes before it. */
  #checkOwner(): Promise<void> {
    return new Promise((resolve, reject) => {
      const position = this.#pipeline!.next;
      const head = { kind: TRIM, index: 0, lengthBytes: 0, partBytes: 0, position } as const;
      this.#put(head, NO_BODY, resolve, reject);
    });
  }

  async #close(): Promise<void> {
    this.#stage.close();
    this.#tail.giveUp();
    await this.#trimming;
    await this.#pipeline?.settled();
    this.#pipeline?.close();
  }
}

/** Nothing is ever deleted, so the servers have lost it: they cut out what they cannot read. */
function checkWhole({ config, state, cluster }: StreamInfo): void {
  const { num_deleted = 0, first_seq } = state;
  if (num_deleted === 0) return;
  const what = `${num_deleted} messages are missing behind it`;
  throw streamDamaged(config.name, first_seq, what, cluster?.leader);
}
