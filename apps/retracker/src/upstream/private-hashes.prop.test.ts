// Whatever clients and forwarders do, in whatever order: a hash that must stay here is in no
// request, and a forwarder that answered "never" gets no more requests for that hash.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FakeClock, Sluice } from "sluice";
import { Retracker } from "../retracker.ts";
import { type Asked, failing, HttpUpstream, type Said, told } from "../testing/http-upstream.ts";
import { announceTo, hashOf, specsOf } from "../testing/scene.ts";

const HASHES = ["\0first", "a", "b", "z-private"];
const PRIVATE = ["\0first", "z-private"];
const ANSWERS: Readonly<Record<string, () => Said>> = {
  good: () => told({ peers: "", interval: 60 }),
  notFound: () => ({ status: 404 }),
  broken: () => ({ status: 500 }),
  busy: () => ({ status: 429 }),
  later: () => failing("later", 1),
  never: () => failing("no", "never"),
  failed: () => failing("no"),
};

const step = fc.oneof(
  fc.record({
    kind: fc.constant("announce" as const),
    hash: fc.constantFrom(...HASHES),
    port: fc.integer({ min: 1, max: 3 }),
    event: fc.constantFrom("started", "completed", "stopped", ""),
  }),
  fc.record({
    kind: fc.constant("wait" as const),
    ms: fc.constantFrom(500, 60_000, 300_000, 1_800_000),
  }),
  fc.record({
    kind: fc.constant("say" as const),
    up: fc.integer({ min: 0, max: 1 }),
    what: fc.constantFrom(...Object.keys(ANSWERS)),
  }),
  fc.record({ kind: fc.constant("restart" as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const announce = (hash: string) => ({ kind: "announce" as const, hash, port: 1, event: "started" });
const say = (what: string) => ({ kind: "say" as const, up: 0, what });
const wait = (ms: number) => ({ kind: "wait" as const, ms });

/** Paths that are rare by chance: a probe, a probe after "never", retries, and after a restart. */
const EXAMPLES: [Step[]][] = [
  [
    [announce("\0first"), say("notFound"), announce("a")],
    [say("good"), wait(300_000), wait(60_000)],
  ].flat(),
  [announce("a"), say("never"), announce("b"), say("notFound"), announce("a"), wait(300_000)],
  [say("broken"), announce("a"), { kind: "restart" as const }, wait(500), wait(60_000)],
  [say("later"), announce("b"), wait(60_000), say("never"), wait(60_000), wait(1_800_000)],
  // Two peers of one hash are announced again at the same moment.
  [announce("a"), { ...announce("a"), port: 2 }, say("never"), wait(300_000), wait(1_800_000)],
].map((steps) => [steps as Step[]]);

class World implements AsyncDisposable {
  readonly clock = new FakeClock();
  /** When a forwarder said "never" of a hash. Requests of that moment may have left before. */
  readonly never = new Map<string, number>();
  readonly leaks: string[] = [];
  readonly ups: HttpUpstream[] = [];
  sluice!: Sluice;
  retracker!: Retracker;

  static async open(): Promise<World> {
    const world = new World();
    for (let i = 0; i < 2; i++) world.ups.push(await HttpUpstream.open());
    for (const i of [0, 1]) world.say(i, "good");
    world.sluice = await Sluice.open({ durability: "memory", clock: world.clock });
    await world.start();
    return world;
  }

  say(up: number, what: string): void {
    this.ups[up]!.answer = (asked) => this.#answer(up, asked, what);
  }

  #answer(up: number, { fields }: Asked, what: string): Said {
    const hash = fields.get("info_hash")!;
    if (PRIVATE.some((name) => hashOf(name) === hash)) this.leaks.push("a private hash left");
    const now = this.clock.now();
    const refusedAt = this.never.get(up + hash) ?? now;
    if (refusedAt < now) this.leaks.push("asked again after never");
    if (what === "never") this.never.set(up + hash, refusedAt);
    return ANSWERS[what]!();
  }

  async start(): Promise<void> {
    const never_forward = PRIVATE.map((name) =>
      Buffer.from(hashOf(name), "latin1").toString("hex"),
    );
    this.retracker = await Retracker.open({
      settings: { listen: "127.0.0.1:0", udp_listen: "", never_forward, forward_timeout: 5 },
      forwarders: specsOf(this.ups.map(({ uri }) => uri)),
      sluice: this.sluice,
      clock: this.clock,
      onError: (error) => this.leaks.push(String(error)),
    });
  }

  /** One request of a hash may be under way when another of it is answered with "never". */
  async settled(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await this.sluice.drain();
      await new Promise((done) => setTimeout(done, 2));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.retracker.close();
    await this.sluice.close();
    for (const up of this.ups) await up[Symbol.asyncDispose]();
  }
}

test("private hashes and refused ones leave by no path", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using world = await World.open();
      for (const one of steps) {
        if (one.kind === "say") world.say(one.up, one.what);
        else if (one.kind === "wait") await world.clock.advance(one.ms);
        else if (one.kind === "restart") {
          await world.retracker.close();
          await world.start();
        } else {
          const url = `http://127.0.0.1:${world.retracker.ports.http}/announce`;
          await announceTo(url, { hash: one.hash, port: one.port, event: one.event || undefined });
        }
        await world.settled();
        assert.deepEqual(world.leaks, []);
      }
    }),
    { numRuns: 25, examples: EXAMPLES },
  );
});
