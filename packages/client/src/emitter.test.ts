import assert from "node:assert/strict";
import { test } from "node:test";
import { Emitter, emit, hears } from "./emitter.ts";

interface Events {
  moved: { to: number };
  error: { error: Error };
}

const NAMES = ["moved", "error"] as const;

/** What `console.error` is given while `act` runs. */
async function printed(act: () => void | Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  const original = console.error;
  console.error = (...parts: unknown[]) => lines.push(parts.join(" "));
  try {
    await act();
  } finally {
    console.error = original;
  }
  return lines;
}

test("listeners hear events in the order in which they came, until they leave", () => {
  const emitter = new Emitter<Events>(NAMES);
  const heard: string[] = [];
  const first = ({ to }: { to: number }): unknown => heard.push(`first ${to}`);
  emitter.on("moved", first).on("moved", ({ to }) => heard.push(`second ${to}`));
  emit(emitter, "moved", { to: 1 });
  emitter.off("moved", first);
  emit(emitter, "moved", { to: 2 });
  assert.deepEqual(heard, ["first 1", "second 1", "second 2"]);
});

test("a listener for once hears one event, and can leave before it", () => {
  const emitter = new Emitter<Events>(NAMES);
  const heard: number[] = [];
  const listener = ({ to }: { to: number }): unknown => heard.push(to);
  emitter.once("moved", listener);
  emit(emitter, "moved", { to: 1 });
  emit(emitter, "moved", { to: 2 });
  emitter.once("moved", listener).off("moved", listener);
  emit(emitter, "moved", { to: 3 });
  assert.deepEqual(heard, [1]);
  assert.equal(hears(emitter, "moved"), false);
});

test("events rise to those above", () => {
  const upper = new Emitter<Events>(NAMES);
  const lower = new Emitter<Events>(NAMES, upper);
  const heard: string[] = [];
  assert.equal(hears(lower, "moved"), false);
  upper.on("moved", () => heard.push("upper"));
  assert.equal(hears(lower, "moved"), true);
  lower.on("moved", () => heard.push("lower"));
  emit(lower, "moved", { to: 1 });
  emit(upper, "moved", { to: 1 });
  assert.deepEqual(heard, ["lower", "upper", "upper"]);
});

test("a listener that throws or rejects emits an error and does not stop the others", async () => {
  const emitter = new Emitter<Events>(NAMES);
  const errors: string[] = [];
  const heard: number[] = [];
  emitter.on("error", ({ error }) => errors.push(error.message));
  emitter.on("moved", () => {
    throw new Error("thrown");
  });
  emitter.on("moved", () => Promise.reject(new Error("rejected")));
  emitter.on("moved", ({ to }) => heard.push(to));
  emit(emitter, "moved", { to: 1 });
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(heard, [1]);
  assert.deepEqual(errors, ["thrown", "rejected"]);
});

test("a listener that leaves during an event still hears it, and a new one does not", () => {
  const emitter = new Emitter<Events>(NAMES);
  const heard: string[] = [];
  const late = (): unknown => heard.push("late");
  const leaving = (): unknown => heard.push("leaving");
  emitter.on("moved", () => emitter.off("moved", leaving).on("moved", late));
  emitter.on("moved", leaving);
  emit(emitter, "moved", { to: 1 });
  assert.deepEqual(heard, ["leaving"]);
});

test("an error without a listener is printed", async () => {
  const emitter = new Emitter<Events>(NAMES);
  const lines = await printed(() => emit(emitter, "error", { error: new Error("lost") }));
  assert.deepEqual(lines, ["sluice: Error: lost"]);
});

test("the error of a failing error listener is printed and not emitted again", async () => {
  const emitter = new Emitter<Events>(NAMES);
  emitter.on("error", () => {
    throw "no error at all";
  });
  const lines = await printed(() => emit(emitter, "error", { error: new Error("lost") }));
  assert.deepEqual(lines, ["sluice: Error: no error at all"]);
});

test("a listener for an unknown event is refused, and the known ones are named", () => {
  const emitter = new Emitter<Events>(NAMES);
  for (const listen of ["on", "once"] as const) {
    const refused = { code: "INVALID", message: /moved, error, got "completed"/ };
    assert.throws(() => emitter[listen]("completed" as "moved", () => {}), refused);
  }
});
