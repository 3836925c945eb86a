/**
 * Divides what a log holds over the partitions of a cluster. The log is replayed into an engine,
 * and each partition gets its own part of that state: the jobs of its queues with their ids,
 * payloads, attempts and leases, the gates and stores that are at home there, and a copy of what
 * every partition has. The source is only read.
 *
 * Queues whose jobs depend on each other go to one partition: the facts link jobs by their ids,
 * which name no partition.
 */
import { Engine, type Fact, type GoneBodies } from "@sluice/engine";
import type { Log } from "@sluice/log";
import { letterQueueConfig, SluiceError } from "@sluice/protocol";
import { type Chunk, Chunks } from "../chunks.ts";
import { bodyAt, skipBody } from "../codec/body.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { decodeFact } from "../codec/facts.ts";
import { CHUNK_BYTES_MAX } from "../limits.ts";
import { Recovery } from "../recovery.ts";
import { HeldAtGates } from "./held-at-gates.ts";
import { type PartFacts, partsOfFact } from "./part-facts.ts";
import type { PartHomes } from "./part-homes.ts";
import { PartWriter, type PartWritten } from "./part-writer.ts";
import { QueuePlaces } from "./queue-places.ts";

export interface DivideOptions {
  /** Must not have been replayed. */
  readonly log: Log;
  readonly homes: PartHomes;
  /** The logs of the partitions, which are empty. */
  readonly parts: readonly Pick<Log, "append">[];
  readonly stop?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

export interface Divided {
  /** What was written, by partition. */
  readonly written: readonly PartWritten[];
  /** Where queues are that are not at home alone. */
  readonly queues: Readonly<Record<string, readonly number[]>>;
}

/** Everything that is kept stays kept. */
const NO_BOUND = {
  jobs: Number.MAX_SAFE_INTEGER,
  resultBytes: Number.MAX_SAFE_INTEGER,
  payloadBytes: Number.MAX_SAFE_INTEGER,
};

export function divideLog(options: DivideOptions): Promise<Divided> {
  return new Division(options).run();
}

class Division {
  readonly #options: DivideOptions;
  readonly #gone: GoneBodies = { bodies: [], sizes: [] };
  readonly #engine: Engine;
  readonly #chunks: Chunks;
  readonly #places: QueuePlaces;
  readonly #writers: readonly PartWriter[];
  readonly #held: HeldAtGates;
  #now = 0;

  constructor(options: DivideOptions) {
    const { log, homes, parts } = options;
    this.#options = options;
    this.#engine = new Engine({
      letterQueue: letterQueueConfig,
      keptMax: NO_BOUND,
      facts: [],
      gone: this.#gone,
    });
    this.#chunks = new Chunks(log, 0, CHUNK_BYTES_MAX);
    this.#places = new QueuePlaces(homes);
    this.#held = new HeldAtGates(homes);
    this.#writers = parts.map((part) => new PartWriter(part));
  }

  async run(): Promise<Divided> {
    await this.#replay();
    this.#placeQueues();
    await this.#eachLive((fact) => {
      if (fact.fact === "moved") this.#places.link(fact.job);
    });
    this.#places.settle();
    await this.#write();
    const written = await Promise.all(this.#writers.map((writer) => writer.end()));
    return { written, queues: this.#places.elsewhere() };
  }

  async #replay(): Promise<void> {
    const { log, onProgress } = this.#options;
    const recovery = new Recovery(log, this.#engine, this.#chunks, this.#gone);
    const { lastAt } = await recovery.run(({ doneBytes, totalBytes }) => {
      this.#checkStop();
      onProgress?.(doneBytes, totalBytes);
    });
    this.#now = lastAt;
    // Leases of workers that lived in the process of this log are over.
    this.#engine.endReplay(lastAt);
    this.#chunks.releaseAll(this.#gone);
  }

  #placeQueues(): void {
    for (const name of this.#engine.queries.queueNames()) {
      this.#places.add(name, this.#engine.queueConfig(name));
    }
  }

  /** As the cleaner writes it: a mark, the jobs, and the state beside them. */
  async #write(): Promise<void> {
    this.#writeAll(this.#engine.checkpoint().next().value ?? []);
    await this.#eachLive((fact) => this.#writeLive(fact));
    for (const step of this.#engine.checkpoint()) {
      this.#writeAll(step);
      await this.#turn();
    }
    for (const { partition, fact } of this.#held.facts(this.#now)) {
      this.#writers[partition]!.write(fact);
    }
  }

  #writeAll(facts: readonly Fact[]): void {
    const parts: PartFacts = { homes: this.#options.homes, places: this.#places };
    for (const fact of facts) {
      for (const { partition, fact: own } of partsOfFact(fact, parts)) {
        this.#writers[partition]!.write(own);
      }
    }
  }

  #writeLive(fact: LiveFact): void {
    const id = fact.fact === "moved" ? fact.job.id : fact.id;
    const partition = this.#places.partitionOfJob(id);
    this.#writers[partition]!.write(fact);
    if (fact.fact === "moved") this.#held.count(partition, fact.job);
  }

  /** Every job and every result of a step that is kept, with its body, in the order of the log. */
  async #eachLive(tell: (fact: LiveFact) => void): Promise<void> {
    for (const chunk of [...this.#chunks.upTo(Number.POSITIVE_INFINITY)]) {
      for (const { from, to, position, offset } of [...chunk.parts]) {
        const bytes = await this.#options.log.read(position, offset, to - from);
        this.#eachOf(chunk, from, bytes, tell);
        await this.#turn();
      }
    }
  }

  #eachOf(chunk: Chunk, from: number, bytes: Uint8Array, tell: (fact: LiveFact) => void): void {
    const reader = new ByteReader(bytes);
    let at = 0;
    const skip = (body: ByteReader): void => {
      at = body.at;
      skipBody(body);
    };
    while (!reader.isAtEnd) {
      const fact = decodeFact(reader, skip);
      const name = this.#chunks.nameOf(chunk, from + at);
      const live = this.#liveOf(fact, name);
      if (live === undefined) continue;
      const body = bodyAt(bytes, at);
      if (live.fact === "moved") live.job.body = body;
      else live.body = body;
      tell(live);
    }
  }

  /** What is kept of a fact; undefined: its job is gone, or its body is elsewhere by now. */
  #liveOf(fact: Fact, name: number): LiveFact | undefined {
    const at = this.#now;
    if (fact.fact === "job" || fact.fact === "moved") {
      if (this.#engine.body(fact.job.id) !== name) return undefined;
      const job = this.#engine.queries.record(fact.job.id);
      return job === undefined ? undefined : { at, fact: "moved", job };
    }
    if (fact.fact !== "signalled" && !(fact.fact === "step" && "body" in fact)) return undefined;
    return this.#engine.steps.body(fact) === name ? { ...fact, at } : undefined;
  }

  async #turn(): Promise<void> {
    this.#checkStop();
    for (const writer of this.#writers) await writer.turn();
  }

  #checkStop(): void {
    if (this.#options.stop?.aborted !== true) return;
    throw new SluiceError("ABORTED", "the copy was stopped and is incomplete; delete it");
  }
}

type LiveFact = Extract<Fact, { fact: "moved" | "step" | "signalled" }>;
