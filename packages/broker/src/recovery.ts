import type { Engine, Fact, GoneBodies, JobSpec } from "@sluice/engine";
import type { Batch, Log } from "@sluice/log";
import { parseQueue, SluiceError } from "@sluice/protocol";
import type { Chunk, Chunks } from "./chunks.ts";
import { bodyAt, skipBody } from "./codec/body.ts";
import { ByteReader } from "./codec/byte-reader.ts";
import { decodeFact } from "./codec/facts.ts";

/** How far a recovery has come, for a progress bar. */
export interface RecoveryProgress {
  doneBytes: number;
  totalBytes: number;
  facts: number;
}

export interface Recovered {
  facts: number;
  /** The time of the last fact; 0: there was none. */
  lastAt: number;
  /** When it was stored, by the log's own clock, if it has one. */
  lastStoredAt: number | undefined;
  /** Where a replay may begin in the log, the oldest first. */
  marks: number[];
}

/**
 * Rebuilds the engine from the log. Facts before the first mark are skipped: their jobs are written
 * again further on, or have ended.
 */
export class Recovery {
  readonly #log: Log;
  readonly #engine: Engine;
  readonly #chunks: Chunks;
  readonly #gone: GoneBodies;
  #chunk: Chunk | undefined;
  #reader: ByteReader = new ByteReader(new Uint8Array(0));
  /** Where the batch begins in its chunk. */
  #offset = 0;
  /** Where the fact that is read begins in the batch. */
  #factAt = 0;
  /** Where the last two bodies that were stepped over begin in the batch. */
  #bodyAt = 0;
  #followUpAt = 0;
  readonly #result: Recovered = { facts: 0, lastAt: 0, lastStoredAt: undefined, marks: [] };

  constructor(log: Log, engine: Engine, chunks: Chunks, gone: GoneBodies) {
    this.#log = log;
    this.#engine = engine;
    this.#chunks = chunks;
    this.#gone = gone;
  }

  async run(onProgress: ((progress: RecoveryProgress) => void) | undefined): Promise<Recovered> {
    const totalBytes = this.#log.sizeBytes;
    let doneBytes = 0;
    for await (const batch of this.#log.replay({ reuse: true })) {
      this.#apply(batch);
      doneBytes += batch.facts.length;
      onProgress?.({ doneBytes, totalBytes, facts: this.#result.facts });
    }
    this.#endChunk();
    this.#forgetTrimmed();
    return this.#result;
  }

  /** A log that was read along for long: its owner has trimmed what was read first. */
  #forgetTrimmed(): void {
    const first = this.#log.spans()[0]?.first;
    const { marks } = this.#result;
    if (first === undefined || marks.length === 0 || marks[0]! >= first) return;
    this.#result.marks = marks.filter((position) => position >= first);
    this.#chunks.forget(first);
  }

  #apply({ position, facts, storedAt }: Batch): void {
    this.#placeBatch(position, facts.length);
    this.#reader = new ByteReader(facts);
    while (!this.#reader.isAtEnd) {
      this.#factAt = this.#reader.at;
      const fact = this.#decode(position);
      if (fact.fact === "ids") this.#result.marks.push(position);
      if (this.#result.marks.length === 0) continue;
      this.#result.facts++;
      if (fact.at >= this.#result.lastAt) {
        this.#result.lastAt = fact.at;
        this.#result.lastStoredAt = storedAt;
      }
      this.#bind(fact, facts);
      this.#applyFact(fact, position);
      this.#chunks.releaseAll(this.#gone);
    }
  }

  /** Facts that were written by an engine fit each other: one that does not is of another log. */
  #applyFact(fact: Fact, position: number): void {
    try {
      this.#engine.apply(fact.fact === "queue" ? withDefaults(fact) : fact);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const { name = "the log" } = this.#log;
      const message =
        `${name} is damaged in the batch at ${position}:` +
        ` the fact "${fact.fact}" does not fit those before it (${reason})`;
      throw new SluiceError("LOG_DAMAGED", message, { position }, { cause: error });
    }
  }

  #decode(position: number): Fact {
    try {
      return decodeFact(this.#reader, this.#skipBody);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      const message = `${error.message} of the batch at ${position}`;
      throw new SluiceError(error.code, message, { ...error.details, position }, { cause: error });
    }
  }

  /** A batch belongs to a chunk as a whole, so that its bodies have names. */
  #placeBatch(position: number, sizeBytes: number): void {
    if (this.#chunk === undefined || this.#chunk.size + sizeBytes > this.#chunks.chunkBytes) {
      this.#endChunk();
      this.#chunk = this.#chunks.make(undefined);
    }
    this.#offset = this.#chunk.size;
    this.#chunk.size += sizeBytes;
    const part = { from: this.#offset, to: this.#chunk.size, position, offset: 0 };
    this.#chunks.place(this.#chunk, part);
  }

  #endChunk(): void {
    if (this.#chunk === undefined) return;
    this.#chunk.isFilled = true;
    this.#chunks.settle(this.#chunk);
  }

  readonly #skipBody = (reader: ByteReader): undefined => {
    this.#followUpAt = this.#bodyAt;
    this.#bodyAt = reader.at;
    skipBody(reader);
    return undefined;
  };

  /** Gives a fact its bodies: the name of a job's own, the bytes of one that waits beside it. */
  #bind(fact: Fact, bytes: Uint8Array): void {
    if (fact.fact === "job" || fact.fact === "moved") {
      fact.job.body = this.#name(fact.job.sizeBytes);
      const followUp = fact.job.extra?.followUp;
      if (followUp !== undefined) this.#load(followUp, bytes, this.#followUpAt);
    } else if (fact.fact === "signalled" || (fact.fact === "step" && "body" in fact)) {
      fact.body = this.#name(fact.sizeBytes);
    } else if (fact.fact === "follow-up") this.#load(fact.spec, bytes, this.#bodyAt);
  }

  #name(sizeBytes: number): number {
    const factBytes = this.#reader.at - this.#factAt;
    return this.#chunks.bind(this.#chunk!, this.#offset + this.#bodyAt, sizeBytes, factBytes);
  }

  #load(spec: JobSpec, bytes: Uint8Array, at: number): void {
    const { headers, payload } = bodyAt(bytes, at);
    spec.body = { headers, payload: payload.slice() };
  }
}

type QueueFact = Extract<Fact, { fact: "queue" }>;

/** Options that are newer than the log have their defaults. */
function withDefaults(fact: QueueFact): QueueFact {
  return { ...fact, config: parseQueue(fact.name, {}, fact.config).config };
}
