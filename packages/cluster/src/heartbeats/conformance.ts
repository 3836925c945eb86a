import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Heartbeats } from "./heartbeats.ts";

type Open = () => Promise<Heartbeats>;

/** Registers the tests that all heartbeats have to pass. `makeOpen` makes handles on new ones. */
export function testHeartbeats(name: string, makeOpen: () => Promise<Open>): void {
  describe(`heartbeats of ${name}`, () => {
    for (const [title, act] of Object.entries(CASES)) {
      test(title, async () => {
        const handles: Heartbeats[] = [];
        const open = await makeOpen();
        try {
          await act(async () => {
            handles.push(await open());
            return handles.at(-1)!;
          });
        } finally {
          for (const handle of handles) await handle.close();
        }
      });
    }
  });
}

const CASES: Record<string, (open: Open) => Promise<void>> = {
  "reach every node that listens, the sender too, in the order of one sender": async (open) => {
    const [one, other] = [await open(), await open()];
    const [heardByOne, heardByOther] = [new Heard(), new Heard()];
    await one.listen(heardByOne.add);
    await other.listen(heardByOther.add);
    const sent = Array.from({ length: 20 }, (_, i) => `{"beat":${i},"text":"é€ ${i}"}`);
    for (const beat of sent) await one.send(beat);
    assert.deepEqual(await heardByOne.count(20), sent);
    assert.deepEqual(await heardByOther.count(20), sent);
  },

  "are not kept for those that listen later": async (open) => {
    const [one, other] = [await open(), await open()];
    const [early, late] = [new Heard(), new Heard()];
    await one.listen(early.add);
    await one.send("first");
    await early.count(1);
    await other.listen(late.add);
    await one.send("second");
    assert.deepEqual(await late.count(1), ["second"]);
  },

  "end for those that stop, and for no others": async (open) => {
    const [one, other] = [await open(), await open()];
    const [stopped, rest] = [new Heard(), new Heard()];
    const stop = await one.listen(stopped.add);
    await other.listen(rest.add);
    stop();
    await one.send("x");
    assert.deepEqual(await rest.count(1), ["x"]);
    await one.close();
    await other.send("y");
    assert.deepEqual(await rest.count(2), ["x", "y"]);
    assert.deepEqual(stopped.beats, []);
  },
};

class Heard {
  readonly beats: string[] = [];
  #wake = (): void => {};
  readonly add = (beat: string): void => {
    this.beats.push(beat);
    this.#wake();
  };

  async count(count: number): Promise<readonly string[]> {
    while (this.beats.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.beats;
  }
}
