import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { quitKey } from "./quit-key.ts";

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

test("q and Ctrl-C end it, other keys do not, and the terminal is left as it was", () => {
  for (const key of ["q", "Q", "\x03"]) {
    const keyboard = new Keyboard();
    {
      using quit = quitKey(keyboard, new AbortController().signal);
      assert.ok(keyboard.isRaw);
      keyboard.emit("data", Buffer.from("x"));
      assert.equal(quit.signal.aborted, false);
      keyboard.emit("data", Buffer.from(key));
      assert.equal(quit.signal.aborted, true);
    }
    assert.deepEqual([keyboard.isRaw, keyboard.isPaused], [false, true]);
    assert.equal(keyboard.listenerCount("data"), 0);
  }
});

test("without a terminal only the signal of the process ends it", () => {
  const stop = new AbortController();
  using quit = quitKey(undefined, stop.signal);
  stop.abort();
  assert.ok(quit.signal.aborted);
});
