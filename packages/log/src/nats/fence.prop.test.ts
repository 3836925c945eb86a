// Owners that take a stream from each other while their messages are lost, late and out of order,
// on a model of a stream: it stores a message only behind the sequence that the message names.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Anchor } from "../log.ts";
import { BatchReader } from "../messages/batch-reader.ts";
import { chained } from "../messages/chain.ts";
import {
  BREAK,
  bodyOf,
  encodeMessage,
  FACTS,
  FENCE,
  type MessageHead,
  readHead,
} from "../messages/message.ts";

const WINDOW = 4;

interface Sent {
  readonly bytes: Uint8Array;
  /** The sequence that it must follow; undefined: none. */
  readonly last: number | undefined;
  readonly owner: Owner;
  readonly sequence: number;
}

/** A stream, and a network in which anything may happen to a message. */
class World {
  readonly stream: Uint8Array[] = [];
  readonly network: Sent[] = [];
  /** Everything that was ever sent. */
  readonly sent: Sent[] = [];

  send(message: Sent): void {
    this.network.push(message);
    this.sent.push(message);
  }

  /** The message reaches the stream; its answer may be lost. Copies stay on the way for later. */
  deliver(index: number, isHeard: boolean, isCopy: boolean): void {
    const sent = this.network[index % this.network.length];
    if (sent === undefined) return;
    if (!isCopy) this.network.splice(this.network.indexOf(sent), 1);
    const isStored = sent.last === undefined || sent.last === this.stream.length;
    if (isStored) this.stream.push(sent.bytes);
    if (isStored && isHeard) sent.owner.onStored(sent.sequence, sent.bytes);
  }
}

/** A batch is one message here. It is named by its owner and a count. */
class Owner {
  readonly #world: World;
  readonly #name: string;
  readonly #fenceLength: number;
  #fence = 0;
  #next = 0;
  #oldest = 0;
  #chain = 0;
  readonly #stored = new Set<number>();
  readonly #sent = new Map<number, Uint8Array>();
  readonly confirmed: string[] = [];
  asked = 0;
  state: "fencing" | "writing" | "ended" = "fencing";

  constructor(world: World, name: string, fenceLength: number) {
    this.#world = world;
    this.#name = name;
    this.#fenceLength = fenceLength;
    this.#setFence();
  }

  #setFence(): void {
    this.#fence = this.#world.stream.length + 1;
    this.#next = this.#fence;
    this.#oldest = this.#fence;
    this.#stored.clear();
    this.#sent.clear();
    for (let index = 0; index < this.#fenceLength; index++) this.#put(FENCE, index, this.#name);
  }

  append(): void {
    if (this.state !== "writing" || this.#next - this.#oldest >= WINDOW) return;
    this.#put(FACTS, 0, `${this.#name}${this.asked++}`);
  }

  #put(kind: MessageHead["kind"], index: number, text: string): void {
    const body = Buffer.from(text);
    const sequence = this.#next++;
    const partBytes = kind === FENCE ? this.#fenceLength : 100;
    const head = { kind, index, lengthBytes: body.length, partBytes, fence: this.#fence };
    const place = { position: sequence - index, chain: this.#chain };
    const bytes = encodeMessage({ ...head, ...place }, body);
    if (kind === FACTS) this.#chain = chained(this.#chain, bytes);
    this.#sent.set(sequence, bytes);
    this.#world.send({ bytes, last: sequence - 1, owner: this, sequence });
  }

  onStored(sequence: number, bytes: Uint8Array): void {
    // An answer to a fence that was given up is no answer to the next one.
    if (this.#sent.get(sequence) !== bytes || this.state === "ended") return;
    this.#stored.add(sequence);
    for (; this.#stored.has(this.#oldest); this.#oldest++) {
      const body = Buffer.from(bodyOf(this.#sent.get(this.#oldest)!)).toString();
      if (this.state === "writing") this.confirmed.push(body);
      else if (this.#oldest === this.#fence + this.#fenceLength - 1) this.#begin();
    }
  }

  /** The fence is stored, so all messages before it are known. */
  #begin(): void {
    this.state = "writing";
    this.#chain = this.#world.stream.slice(0, this.#oldest).reduce(chained, 0);
  }

  /** Resends all unconfirmed messages, unless another message has the place of the oldest. */
  retry(): void {
    if (this.state === "ended" || this.#oldest === this.#next) return;
    const found = this.#world.stream[this.#oldest - 1];
    const oldest = this.#sent.get(this.#oldest)!;
    if (found !== undefined && Buffer.compare(found, oldest) !== 0) return this.#lose();
    if (found !== undefined) this.onStored(this.#oldest, oldest);
    for (let sequence = this.#oldest; sequence < this.#next; sequence++) {
      const bytes = this.#sent.get(sequence)!;
      this.#world.send({ bytes, last: sequence - 1, owner: this, sequence });
    }
  }

  #lose(): void {
    if (this.state === "writing") {
      this.state = "ended";
      return;
    }
    const place = { index: 0, lengthBytes: 0, partBytes: 0, position: 0, fence: 0, chain: 0 };
    const bytes = encodeMessage({ ...place, kind: BREAK }, new Uint8Array(0));
    this.#world.send({ bytes, last: undefined, owner: this, sequence: -1 });
    this.#setFence();
  }

  get name(): string {
    return this.#name;
  }
}

type Step =
  | { act: "open" }
  | { act: "append" | "retry"; owner: number }
  | { act: "deliver"; message: number; isHeard: boolean; isCopy: boolean };

const owner = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Step>({ act: "open" }) },
  { weight: 8, arbitrary: fc.record({ act: fc.constant("append" as const), owner }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("retry" as const), owner }) },
  {
    weight: 16,
    arbitrary: fc.record({
      act: fc.constant("deliver" as const),
      // Mostly in order.
      message: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(20)),
      isHeard: fc.boolean(),
      isCopy: fc.oneof(fc.constant(false), fc.constant(false), fc.boolean()),
    }),
  },
);

/** Of each owner there is all that was confirmed to it, and a beginning of what it asked for. */
function check(world: World, owners: readonly Owner[]): void {
  const reader = new BatchReader({ kind: "stream", name: "model" });
  const found: string[] = [];
  for (const [index, bytes] of world.stream.entries()) {
    const batch = reader.take(index + 1, bytes);
    if (batch !== undefined) found.push(Buffer.from(batch.facts).toString());
  }
  for (const { name, confirmed } of owners) {
    const own = found.filter((text) => text.startsWith(name));
    const expected = own.map((_, index) => `${name}${index}`);
    assert.deepEqual(own, expected, `what is there of ${name}`);
    assert.ok(own.length >= confirmed.length, `${name} got more confirmed`);
  }
}

function run(steps: readonly Step[], fenceLength: number): World {
  const world = new World();
  const owners = [new Owner(world, "a-", fenceLength)];
  for (const one of steps) {
    if (one.act === "open") {
      owners.push(new Owner(world, `${String.fromCharCode(97 + owners.length)}-`, fenceLength));
    } else if (one.act === "deliver") {
      world.deliver(one.message, one.isHeard, one.isCopy);
    } else owners.at(-1 - (one.owner % owners.length))?.[one.act]();
    check(world, owners);
  }
  return world;
}

/** A copy that holds another message in one place: one that was sent for it, and is not stored. */
function divergent({ stream, sent }: World, pick: number): [Uint8Array[], number] | undefined {
  const others = sent.filter(({ bytes, last }) => {
    const kept = stream[last ?? 0];
    return kept !== undefined && Buffer.compare(kept, bytes) !== 0;
  });
  const other = others[pick % others.length];
  if (other === undefined) return undefined;
  const index = other.last ?? 0;
  return [stream.with(index, other.bytes), index + 1];
}

/** Where batches are that a replay answers, with the fence of their owner. */
function batchesOf(stream: readonly Uint8Array[]): { position: number; fence: number }[] {
  const reader = new BatchReader({ kind: "stream", name: "model" });
  return stream.flatMap((bytes, index) => {
    const batch = reader.take(index + 1, bytes);
    return batch === undefined ? [] : [{ position: index + 1, fence: readHead(bytes).fence }];
  });
}

function readAll(stream: readonly Uint8Array[], anchor?: Anchor): void {
  const reader = new BatchReader({ kind: "stream", name: "model" });
  for (const [index, bytes] of stream.entries()) reader.take(index + 1, bytes);
  if (anchor !== undefined) reader.chain.checkAnchor(anchor);
}

const lives = fc.array(step, { minLength: 30, maxLength: 200 });

test("no confirmed message is lost and none follows a hole, whichever owner writes", () => {
  fc.assert(
    fc.property(lives, (steps) => void run(steps, WINDOW)),
    { numRuns: 3000 },
  );
});

test("a fence of a single message would not do", () => {
  const found = fc.check(
    fc.property(lives, (steps) => void run(steps, 1)),
    { numRuns: 20_000 },
  );
  assert.ok(found.failed);
});

test("finds a copy with another history by the next owner's batch, or by the anchor", () => {
  let judged = 0;
  fc.assert(
    fc.property(lives, fc.nat(1000), (steps, pick) => {
      const world = run(steps, WINDOW);
      const found = divergent(world, pick);
      if (found === undefined) return;
      const [copy, at] = found;
      const batches = batchesOf(world.stream);
      const later = batches.filter(({ position }) => position >= at);
      if (later.some(({ fence }) => fence + WINDOW > at)) {
        judged++;
        assert.throws(() => readAll(copy), { code: "LOG_DAMAGED" });
      }
      for (const { position } of later) {
        judged++;
        const chain = world.stream.slice(0, position).reduce(chained, 0);
        readAll(world.stream, { position, chain });
        assert.throws(() => readAll(copy, { position, chain }), { code: "LOG_DAMAGED" });
      }
    }),
    { numRuns: 3000 },
  );
  assert.ok(judged > 100, `only ${judged} copies were judged`);
});
