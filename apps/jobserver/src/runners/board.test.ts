import assert from "node:assert/strict";
import { test } from "node:test";
import { LIST_RESULTS_BYTES } from "../limits.ts";
import { Board } from "./board.ts";

const two = (): { server: Board; thread: Board } => {
  const server = new Board();
  return { server, thread: new Board(server.memory) };
};

test("a job is begun by the thread or taken back by the server, never both", () => {
  const { server, thread } = two();
  assert.deepEqual([thread.begin(0), server.takeBack(0)], [true, false]);
  assert.deepEqual([server.takeBack(1), thread.begin(1)], [true, false]);
  assert.deepEqual(
    [0, 1, 2].map((place) => server.isRunning(place)),
    [true, false, false],
  );
  server.clear();
  assert.deepEqual([thread.begin(1), server.takeBack(0)], [true, true]);
});

test("results are read as they were put, with their times", () => {
  const { server, thread } = two();
  const results = ['{"a":"ä€😀"}', "null", undefined, '""'];
  for (const [place, result] of results.entries()) {
    assert.equal(thread.begin(place), true);
    assert.equal(server.read(place), undefined);
    assert.equal(thread.put(place, { result, tookMs: 0.25 }), true);
    assert.equal(server.isRunning(place), false);
  }
  const read = results.map((_, place) => server.read(place));
  assert.deepEqual(
    read,
    results.map((result) => ({ result, tookMs: 0.25 })),
  );
  thread.begin(4);
  thread.reported(4);
  assert.deepEqual(
    [server.read(4), server.isRunning(4), server.takeBack(4)],
    [undefined, false, false],
  );
});

test("a result for which there is no room is refused, and the next list has all of it", () => {
  const { server, thread } = two();
  const full = "x".repeat(LIST_RESULTS_BYTES);
  const put = (place: number, result: string): boolean =>
    thread.begin(place) && thread.put(place, { result, tookMs: 0 });
  assert.deepEqual([put(0, `${full}x`), put(1, full), put(2, "y")], [false, true, false]);
  server.clear();
  thread.open();
  assert.equal(put(0, full), true);
  assert.equal(server.read(0)?.result, full);
});
