import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import type { Registry, WatchedEntry } from "./registry.ts";

/** One registry, from its first handle to its end. */
export interface RegistryHarness {
  /** A handle on the same registry as the others, as each node has one. */
  open(): Promise<Registry>;
}

type Act = (harness: RegistryHarness) => Promise<void>;

/** Registers the tests that every registry has to pass. */
export function testRegistry(name: string, makeHarness: () => Promise<RegistryHarness>): void {
  describe(`the ${name} registry`, () => {
    for (const [title, act] of Object.entries({ ...CHANGES, ...WATCHES })) {
      test(title, async () => {
        const handles: Registry[] = [];
        const harness = await makeHarness();
        try {
          await act({
            open: async () => {
              handles.push(await harness.open());
              return handles.at(-1)!;
            },
          });
        } finally {
          for (const handle of handles) await handle.close();
        }
      });
    }
  });
}

const CHANGES: Record<string, Act> = {
  "knows nothing of a key that was never made": async ({ open }) => {
    assert.equal(await (await open()).get("node.a"), undefined);
  },

  "gives back what was made, to every node": async ({ open }) => {
    const [one, other] = [await open(), await open()];
    const revision = await one.create("queue.bWFpbA", '{"partitions":[1,2]}');
    const entry = { value: '{"partitions":[1,2]}', revision };
    assert.deepEqual(await one.get("queue.bWFpbA"), entry);
    assert.deepEqual(await other.get("queue.bWFpbA"), entry);
  },

  "makes a key once": async ({ open }) => {
    const [one, other] = [await open(), await open()];
    const made = await Promise.allSettled([
      one.create("owner.3", "one"),
      other.create("owner.3", "other"),
    ]);
    assert.equal(made.filter(({ status }) => status === "fulfilled").length, 1);
    for (const result of made) {
      if (result.status === "rejected") assert.equal(result.reason.code, "CONFLICT");
    }
    const winner = made[0].status === "fulfilled" ? "one" : "other";
    assert.equal((await other.get("owner.3"))?.value, winner);
  },

  "changes only what has the revision that the caller knows": async ({ open }) => {
    const registry = await open();
    const first = await registry.create("owner.1", "a");
    const second = await registry.update("owner.1", "b", first);
    assert.ok(second > first);
    await refused("CONFLICT", registry.update("owner.1", "c", first));
    await refused("CONFLICT", registry.update("owner.1", "c", second + 1));
    await refused("CONFLICT", registry.update("owner.1", "c", 0));
    await refused("CONFLICT", registry.update("owner.2", "c", second));
    assert.deepEqual(await registry.get("owner.1"), { value: "b", revision: second });
  },

  "lets one of many win that change the same": async ({ open }) => {
    const handles = [await open(), await open(), await open()];
    let revision = await handles[0]!.create("owner.1", "none");
    for (let round = 0; round < 10; round++) {
      const last = revision;
      const values = handles.map((_, index) => `${round} by ${index}`);
      const results = await Promise.allSettled(
        handles.map((handle, index) => handle.update("owner.1", values[index]!, last)),
      );
      const won = results.findIndex(({ status }) => status === "fulfilled");
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
      const entry = await handles[1]!.get("owner.1");
      assert.equal(entry?.value, values[won]);
      revision = entry!.revision;
    }
  },

  "lets many change keys of their own at the same time": async ({ open }) => {
    const handles = [await open(), await open(), await open()];
    const lives = handles.map(async (handle, index) => {
      let revision = await handle.create(`node.${index}`, "0");
      for (let i = 1; i <= 10; i++)
        revision = await handle.update(`node.${index}`, `${i}`, revision);
    });
    await Promise.all(lives);
    for (const index of handles.keys()) {
      assert.equal((await handles[0]!.get(`node.${index}`))?.value, "10");
    }
  },

  "gives revisions that grow over all keys": async ({ open }) => {
    const registry = await open();
    const revisions: number[] = [];
    for (const key of ["a", "b", "c"]) revisions.push(await registry.create(key, "x"));
    revisions.push(await registry.update("a", "y", revisions[0]!));
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(revisions).size, 4);
  },

  "forgets what is deleted, and makes it again": async ({ open }) => {
    const registry = await open();
    const first = await registry.create("node.a", "1");
    await refused("CONFLICT", registry.delete("node.a", first + 1));
    await refused("CONFLICT", registry.delete("node.b", first));
    await registry.delete("node.a", first);
    assert.equal(await registry.get("node.a"), undefined);
    await refused("CONFLICT", registry.update("node.a", "2", first));
    await refused("CONFLICT", registry.delete("node.a", first));
    const second = await registry.create("node.a", "3");
    assert.ok(second > first);
    assert.equal((await registry.get("node.a"))?.value, "3");
  },

  "refuses keys that are none, and takes nothing when it is closed": async ({ open }) => {
    const registry = await open();
    for (const key of ["", ".", "a.", ".a", "a..b", "a b", "a.*", ">", "é", "a".repeat(600)]) {
      await refused("INVALID", registry.get(key));
      await refused("INVALID", registry.create(key, "x"));
    }
    await refused("INVALID", registry.create("big", "x".repeat(70_000)));
    await registry.close();
    await refused("CLOSED", registry.get("a"));
    await refused("CLOSED", registry.create("a", "x"));
    await refused(
      "CLOSED",
      registry.watch(["a"], () => {}),
    );
  },
};

const WATCHES: Record<string, Act> = {
  "tells first what is there, then what changes": async ({ open }) => {
    const [one, other] = [await open(), await open()];
    const made = await one.create("node.a", "1");
    await one.create("node.b", "1");
    await one.create("owner.1", "a");
    const seen = new Seen();
    const stop = await other.watch(["node."], seen.add);
    assert.deepEqual(seen.keys(), ["node.a", "node.b"]);
    const revision = await one.update("node.a", "2", made);
    await one.create("node.c", "1");
    await one.create("owner.2", "a");
    await one.delete("node.a", revision);
    await seen.until(({ key, value }) => key === "node.a" && value === undefined);
    assert.ok(seen.entries.every(({ key }) => key.startsWith("node.")));
    assert.ok(seen.keys().includes("node.c"));
    stop();
  },

  "tells no one any more who has stopped": async ({ open }) => {
    const registry = await open();
    const seen = new Seen();
    const others = new Seen();
    const stop = await registry.watch(["a", "b"], seen.add);
    await registry.watch(["a", "b"], others.add);
    await registry.create("a", "1");
    await seen.until(({ key }) => key === "a");
    stop();
    await registry.create("b", "1");
    await others.until(({ key }) => key === "b");
    assert.deepEqual(seen.keys(), ["a"]);
  },

  "tells of keys, and of all that begin with a word and a dot, and of no others": async ({
    open,
  }) => {
    const registry = await open();
    for (const key of ["own", "owner.1", "owner.10.x", "owners.1", "node.a", "node.ab"]) {
      await registry.create(key, "x");
    }
    const seen = new Seen();
    await registry.watch(["owner.", "node.a", "later"], seen.add);
    assert.deepEqual(seen.keys(), ["node.a", "owner.1", "owner.10.x"]);
    await registry.create("node.b", "x");
    await registry.create("later", "x");
    await seen.until(({ key }) => key === "later");
    assert.deepEqual(seen.keys(), ["later", "node.a", "owner.1", "owner.10.x"]);
  },

  "resolves where none of the keys is there": async ({ open }) => {
    const registry = await open();
    const seen = new Seen();
    await registry.watch(["owner.", "keys"], seen.add);
    await registry.create("owner.1", "x");
    await seen.until(({ key }) => key === "owner.1");
  },

  "tells an end that is never older than the last change": async ({ open }) => {
    const registry = await open();
    const seen = new Seen();
    await registry.watch(["count"], seen.add);
    let revision = await registry.create("count", "0");
    for (let i = 1; i <= 20; i++) revision = await registry.update("count", `${i}`, revision);
    const last = await seen.until(({ value }) => value === "20");
    assert.equal(last.revision, revision);
    const revisions = seen.entries.map((entry) => entry.revision);
    assert.deepEqual(
      revisions,
      revisions.toSorted((a, b) => a - b),
    );
  },
};

/** What a watcher received. */
class Seen {
  readonly entries: WatchedEntry[] = [];
  readonly #heard = new EventTarget();
  readonly add = (entry: WatchedEntry): void => {
    this.entries.push(entry);
    this.#heard.dispatchEvent(new Event("entry"));
  };

  keys(): string[] {
    return [...new Set(this.entries.map(({ key }) => key))].toSorted();
  }

  async until(isIt: (entry: WatchedEntry) => boolean): Promise<WatchedEntry> {
    for (;;) {
      const found = this.entries.find(isIt);
      if (found !== undefined) return found;
      await once(this.#heard, "entry");
    }
  }
}

function refused(code: string, promise: Promise<unknown>): Promise<void> {
  return assert.rejects(promise, (error: Error & { code?: string }) => {
    assert.equal(error.code, code);
    return true;
  });
}
