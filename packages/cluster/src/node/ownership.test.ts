import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { MemoryHeartbeats } from "../heartbeats/memory-heartbeats.ts";
import { CLOSE_MS_MAX, REGISTRY_MS_MAX } from "../limits.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { Ownership } from "./ownership.ts";

/** A registry that cannot be changed any more. */
class LostRegistry extends MemoryRegistry {
  isLost = false;

  override async update(key: string, value: string, revision: number): Promise<number> {
    if (this.isLost) throw new SluiceError("DISCONNECTED", "a test");
    return super.update(key, value, revision);
  }
}

interface Given {
  readonly registry: LostRegistry;
  readonly clock: ReturnType<typeof turningClock>;
  readonly heartbeats?: MemoryHeartbeats;
  open?(): Promise<void>;
}

function newOwnership({ heartbeats, open, ...given }: Given): Ownership {
  return new Ownership({
    ...given,
    node: "a",
    heartbeats: heartbeats ?? new MemoryHeartbeats(),
    incarnation: "a1",
    address: "http://a",
    version: "1",
    partitions: 1,
    host: {
      warm: async () => {},
      cool: () => {},
      open: open ?? (async () => {}),
      rest: () => {},
      resume: () => {},
      close: async () => {},
      prove: async () => {},
      anchorOf: () => undefined,
    },
  });
}

test("a node ends though neither its log nor the registry answers any more", async () => {
  const clock = turningClock(2);
  const registry = new LostRegistry();
  const opening = Promise.withResolvers<void>();
  const ownership = newOwnership({ registry, clock, open: () => opening.promise });
  await ownership.start();
  while (ownership.life(0)?.state !== "opening") await clock.advance(100);
  registry.isLost = true;
  let isClosed = false;
  void ownership.close().then(() => {
    isClosed = true;
  });
  await clock.advance(0);
  opening.reject(new SluiceError("LOG_FAILED", "a test"));
  await clock.advance(CLOSE_MS_MAX + 2 * REGISTRY_MS_MAX);
  assert.ok(isClosed);
});

test("a node whose NATS server is gone while it begins to listen tries again", async () => {
  const clock = turningClock(2);
  const heartbeats = new MemoryHeartbeats();
  const listen = heartbeats.listen.bind(heartbeats);
  let tries = 0;
  heartbeats.listen = async (onBeat) => {
    if (++tries < 3) throw new SluiceError("DISCONNECTED", "a test");
    return listen(onBeat);
  };
  const ownership = newOwnership({ registry: new LostRegistry(), clock, heartbeats });
  let isStarted = false;
  void ownership.start().then(() => {
    isStarted = true;
  });
  for (let i = 0; i < 10 && !isStarted; i++) await clock.advance(100);
  assert.deepEqual([isStarted, tries], [true, 3]);
});
