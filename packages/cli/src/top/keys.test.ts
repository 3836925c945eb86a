import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { TopKeys } from "./keys.ts";

class Keyboard extends EventEmitter {
  readonly isTTY = true;
  isRaw = false;
  isPaused = false;

  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }

  pause(): void {
    this.isPaused = true;
  }
}

const never = new AbortController().signal;

test("q and Ctrl-C end it, other keys do not, and the terminal is left as it was", () => {
  for (const key of ["q", "Q", "\x03"]) {
    const keyboard = new Keyboard();
    {
      using keys = new TopKeys(keyboard, never);
      assert.ok(keyboard.isRaw);
      keyboard.emit("data", Buffer.from("x"));
      assert.equal(keys.signal.aborted, false);
      keyboard.emit("data", Buffer.from(key));
      assert.equal(keys.signal.aborted, true);
    }
    assert.deepEqual([keyboard.isRaw, keyboard.isPaused], [false, true]);
    assert.equal(keyboard.listenerCount("data"), 0);
  }
});

test("without a terminal only the signal of the process ends it", () => {
  const stop = new AbortController();
  using keys = new TopKeys(undefined, stop.signal);
  stop.abort();
  assert.ok(keys.signal.aborted);
});

test("arrows choose a queue among those shown, s the order, Escape lets go", async () => {
  const keyboard = new Keyboard();
  using keys = new TopKeys(keyboard, never);
  const press = (key: string): unknown => {
    keyboard.emit("data", Buffer.from(key));
    return keys.choice.queue;
  };
  assert.equal(press("j"), undefined, "nothing is shown yet");
  keys.show(["mail", "pay"]);
  assert.equal(press("\x1b[B"), "mail");
  const changed = keys.changed();
  assert.equal(press("j"), "pay");
  await changed;
  assert.equal(press("j"), "pay", "the last one");
  assert.equal(press("k"), "mail");
  assert.equal(press("\x1b"), undefined);
  assert.equal(press("\x1b[A"), "pay", "from below");
  const sorts = Array.from({ length: 6 }, () => {
    press("s");
    return keys.choice.sort;
  });
  assert.deepEqual(sorts, ["waiting", "out", "dead", "name", "busy", "waiting"]);
});
