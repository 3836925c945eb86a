import type { Engine, GoneBodies } from "@sluice/engine";
import type { Log, Position, Span } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { type Body, bodyAt } from "./codec/body.ts";
import { PagedBodies } from "./paged-bodies.ts";

/**
 * Where facts are in memory, and where in the log.
 *
 * Facts are written into chunks, and the written parts of a chunk go to the log as they are: a
 * chunk is the log's bytes and the memory of the payloads in them at the same time. A body is named
 * by a number, its chunk and its offset there, which is all that the engine keeps of it. A chunk
 *
 *   is filled      facts are being written into it
 *   is resident    it is full, its bytes are in memory
 *   is paged out   its bytes are only in the log: the memory budget was needed by newer ones
 *   is dropped     no job has a body in it any more
 *
 * in that order; it may be dropped from any state but the first, once it is in the log.
 */
/** A part of a chunk, and the batch of the log that it is in, at an offset of its own. */
export interface Part {
  readonly from: number;
  readonly to: number;
  readonly position: Position;
  readonly offset: number;
}

/** A short run of the log, a chunk or so, and what lives in the chunks that begin there. */
interface Stretch {
  readonly first: Position;
  sizeBytes: number;
  liveBytes: number;
}

export class Chunk {
  readonly number: number;
  bytes: Uint8Array | undefined;
  /** Bytes that are written. */
  size = 0;
  /** Its parts that are in the log, the oldest first. */
  readonly parts: Part[] = [];
  /** Bodies that a job still has, and the bytes of the log that those jobs need. */
  live = 0;
  liveBytes = 0;
  /** Payloads and headers of the live, and what all facts that brought a body took beside it. */
  bodyBytes = 0;
  bound = 0;
  besideBytes = 0;
  /** Where in the log it begins; undefined while none of it is there. */
  stretch: Stretch | undefined = undefined;
  /** Parts that are on their way into the log. */
  unsynced = 0;
  isFilled = false;

  constructor(number: number, bytes: Uint8Array | undefined) {
    this.number = number;
    this.bytes = bytes;
  }

  /** The position of the oldest batch; undefined while none is in the log. */
  get first(): Position | undefined {
    return this.parts[0]?.position;
  }

  get isInLog(): boolean {
    return this.isFilled && this.unsynced === 0;
  }
}

/** Offsets within a chunk: a replay makes one of each batch, and 2^26 chunks are 64 TiB. */
const OFFSETS = 2 ** 27;

export class Chunks {
  readonly #paged: PagedBodies;
  readonly #memoryBytes: number;
  /** Facts are gathered in chunks of this size; a larger fact gets a chunk of its own. */
  readonly chunkBytes: number;
  readonly #chunks = new Map<number, Chunk>();
  /** Chunks whose bytes are in memory, the oldest first. */
  readonly #resident: Chunk[] = [];
  #residentBytes = 0;
  #last = 0;
  /** The oldest first. */
  #stretches: Stretch[] = [];
  /** Bytes in the log that live jobs need, and how many of them are not in the log yet. */
  #liveBytes = 0;
  #unplacedBytes = 0;

  constructor(log: Log, memoryBytes: number, chunkBytes: number) {
    this.#paged = new PagedBodies(log);
    this.#memoryBytes = memoryBytes;
    this.chunkBytes = chunkBytes;
  }

  get liveBytes(): number {
    return this.#liveBytes;
  }

  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** A chunk to write into, or one of a replay, whose bytes stay in the log. */
  make(bytes: Uint8Array | undefined): Chunk {
    const chunk = new Chunk(++this.#last, bytes);
    this.#chunks.set(chunk.number, chunk);
    if (bytes !== undefined) {
      this.#resident.push(chunk);
      this.#residentBytes += bytes.length;
    }
    return chunk;
  }

  /** A job has the body at this place of a chunk, in a fact of this size: answers its name. */
  bind(chunk: Chunk, offset: number, sizeBytes: number, factBytes: number): number {
    if (offset >= OFFSETS) throw new SluiceError("INTERNAL", `a body at offset ${offset}`);
    chunk.live++;
    chunk.bound++;
    chunk.bodyBytes += sizeBytes;
    chunk.besideBytes += factBytes - sizeBytes;
    this.#count(chunk);
    return chunk.number * OFFSETS + offset;
  }

  /** No job has this body any more. */
  release(body: number, sizeBytes: number): void {
    const chunk = this.#chunkOf(body);
    chunk.live--;
    chunk.bodyBytes -= sizeBytes;
    this.#count(chunk);
    if (chunk.live === 0) this.settle(chunk);
  }

  /** Releases bodies that no job has any more; one that has no name yet was never bound. */
  releaseAll({ bodies, sizes }: GoneBodies): void {
    // A replay asks after each fact, and emptying an empty array took 3 % of it.
    if (bodies.length === 0) return;
    for (let i = 0; i < bodies.length; i++) {
      const body = bodies[i];
      if (typeof body === "number") this.release(body, sizes[i]!);
    }
    bodies.length = 0;
    sizes.length = 0;
  }

  /** The bytes of a job beside its body are not stored per job: the mean of its chunk is used. */
  #count(chunk: Chunk): void {
    const besideBytes = Math.round((chunk.live * chunk.besideBytes) / chunk.bound);
    const more = chunk.bodyBytes + besideBytes - chunk.liveBytes;
    chunk.liveBytes += more;
    this.#liveBytes += more;
    if (chunk.stretch === undefined) this.#unplacedBytes += more;
    else chunk.stretch.liveBytes += more;
  }

  /** A part of a chunk is in the log. Parts come in the order of their positions. */
  place(chunk: Chunk, part: Part): void {
    chunk.parts.push(part);
    const partBytes = part.to - part.from;
    const last = this.#stretches.at(-1);
    // A large part begins one of its own: it must not count in a file before the one it is in.
    const isLarge = partBytes > this.chunkBytes;
    const isFull = last === undefined || last.sizeBytes >= this.chunkBytes || isLarge;
    const stretch = isFull ? { first: part.position, sizeBytes: 0, liveBytes: 0 } : last;
    if (isFull) this.#stretches.push(stretch);
    stretch.sizeBytes += partBytes;
    if (chunk.stretch === undefined) {
      this.#unplacedBytes -= chunk.liveBytes;
      this.#putInto(chunk, stretch);
    }
  }

  #putInto(chunk: Chunk, stretch: Stretch): void {
    chunk.stretch = stretch;
    stretch.liveBytes += chunk.liveBytes;
  }

  /** Looks whether a chunk can be dropped, and whether the oldest have to be paged out. */
  settle(chunk: Chunk): void {
    if (chunk.live === 0 && chunk.isInLog) this.#drop(chunk);
    while (this.#residentBytes > this.#memoryBytes) {
      const oldest = this.#resident[0]!;
      if (!oldest.isInLog) break;
      this.#resident.shift();
      this.#unload(oldest);
    }
  }

  /** The body of a job; a promise when it has to be read from the log. */
  read(body: number): Body | Promise<Body> {
    const chunk = this.#chunkOf(body);
    const offset = body % OFFSETS;
    if (chunk.bytes !== undefined) return bodyAt(chunk.bytes, offset);
    return this.#readPaged(chunk, offset);
  }

  /** Chunks that begin at a position of the log or before it, the oldest first. */
  *upTo(position: Position): Generator<Chunk> {
    for (const chunk of this.#chunks.values()) {
      if (chunk.first === undefined) continue;
      if (chunk.first > position) return;
      yield chunk;
    }
  }

  /**
   * Bytes that live jobs need of each of these parts of the log, and last of what is not in it yet.
   * About: a chunk counts where it begins.
   */
  liveIn(spans: readonly Span[]): number[] {
    const live: number[] = [];
    let next = 0;
    for (const { end } of spans) {
      let bytes = 0;
      for (; next < this.#stretches.length && this.#stretches[next]!.first < end; next++) {
        bytes += this.#stretches[next]!.liveBytes;
      }
      live.push(bytes);
    }
    live.push(this.#unplacedBytes);
    return live;
  }

  /** The log has forgotten what is before a position: no live job is there. */
  forget(before: Position): void {
    this.#paged.forget(before);
    const kept = this.#stretches.findLastIndex(({ first }) => first <= before);
    if (kept > 0) this.#stretches.splice(0, kept);
    for (const chunk of [...this.upTo(before)]) {
      const parts = chunk.parts.findIndex(({ position }) => position >= before);
      chunk.parts.splice(0, parts === -1 ? chunk.parts.length : parts);
      if (chunk.stretch!.first < this.#stretches[0]!.first)
        this.#putInto(chunk, this.#stretches[0]!);
    }
  }

  nameOf(chunk: Chunk, offset: number): number {
    return chunk.number * OFFSETS + offset;
  }

  #chunkOf(body: number): Chunk {
    const chunk = this.#chunks.get(Math.floor(body / OFFSETS));
    if (chunk === undefined)
      throw new SluiceError(
        "INTERNAL",
        `the payload ${body} is no longer in the log: this is a bug in Sluice`,
      );
    return chunk;
  }

  #drop(chunk: Chunk): void {
    if (!this.#chunks.delete(chunk.number)) return;
    if (chunk.bytes === undefined) return;
    this.#resident.splice(this.#resident.indexOf(chunk), 1);
    this.#unload(chunk);
  }

  #unload(chunk: Chunk): void {
    this.#residentBytes -= chunk.bytes!.length;
    chunk.bytes = undefined;
  }

  #readPaged(chunk: Chunk, offset: number): Body | Promise<Body> {
    const part = partAt(chunk.parts, offset);
    if (part === undefined) throw new SluiceError("INTERNAL", `offset ${offset} is forgotten`);
    return this.#paged.read(part, offset - part.from + part.offset);
  }
}

function partAt(parts: readonly Part[], offset: number): Part | undefined {
  let last = parts.length - 1;
  while (last >= 0 && parts[last]!.from > offset) last--;
  return parts[last];
}

/**
 * The body of a job; undefined when the job is not known. While it is read the cleaner may put it
 * elsewhere and have the log forget the place: then it is read from there.
 */
export function readBody(
  engine: Engine,
  chunks: Chunks,
  id: number,
): Body | Promise<Body> | undefined {
  const name = engine.body(id);
  if (typeof name !== "number") return undefined;
  const again = (error: unknown): Body | Promise<Body> => {
    const moved = engine.body(id) === name ? undefined : readBody(engine, chunks, id);
    if (moved === undefined) throw error;
    return moved;
  };
  try {
    const read = chunks.read(name);
    return read instanceof Promise ? read.catch(again) : read;
  } catch (error) {
    return again(error);
  }
}

/** Names of bodies rise with their places: in so many bytes of a chunk they are neighbours. */
const NEIGHBOURS_BYTES = 2 ** 17;

type Bodies = (Body | undefined)[];

/**
 * The bodies of jobs, in their order; a promise if some have to be read from the log. Jobs that go
 * out together mostly came together, and one read of the log brings the bodies of many. So
 * neighbours are read one after the other, where a read of its own for each job was a chain of ten
 * promises for each.
 */
export function readBodies(
  engine: Engine,
  chunks: Chunks,
  jobs: readonly { readonly id: number }[],
): Bodies | Promise<Bodies> {
  const bodies: Bodies = [];
  /** Jobs by the place of their bodies: the first is being read. */
  let reading: Map<number, Reading> | undefined;
  for (let index = 0; index < jobs.length; index++) {
    const { id } = jobs[index]!;
    const before = reading?.get(placeOf(engine, id));
    if (before !== undefined) {
      before.rest.push(index);
      continue;
    }
    const body = readBody(engine, chunks, id);
    if (body instanceof Promise) {
      reading ??= new Map();
      reading.set(placeOf(engine, id), { index, body, rest: [] });
    } else bodies[index] = body;
  }
  if (reading === undefined) return bodies;
  const all = [...reading.values()].map(async ({ index, body, rest }) => {
    bodies[index] = await body;
    for (const next of rest) {
      const read = readBody(engine, chunks, jobs[next]!.id);
      bodies[next] = read instanceof Promise ? await read : read;
    }
  });
  return Promise.all(all).then(() => bodies);
}

interface Reading {
  readonly index: number;
  readonly body: Promise<Body>;
  /** Jobs with bodies nearby. */
  readonly rest: number[];
}

function placeOf(engine: Engine, id: number): number {
  const name = engine.body(id);
  return typeof name === "number" ? Math.floor(name / NEIGHBOURS_BYTES) : -1;
}
