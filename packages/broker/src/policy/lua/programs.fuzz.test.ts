import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { job, open } from "../../testing/opened.ts";
import { random } from "../../testing/random.ts";

const PROGRAMS = 1_000;

const PIECES =
  "on_enqueue msg return end local x = 1 .. + - * / // % # == ~= <= and or not nil if then else " +
  "while do break goto :: for in repeat until 'text' \" [[ ]] -- --[[ 0x 1e9 , ; : . ... string.rep " +
  "table.concat pcall error setmetatable _ENV msg.headers { } [ ] ( ) < > & \\ \0 \x1b é";

const WHOLE =
  "function on_enqueue ( msg ) local t = { } for name , value in pairs ( msg.headers ) do " +
  "t [ # t + 1 ] = name .. value end if # t > 0 then return { gates = t , weight = # t } end " +
  "return { fairness_key = msg.queue , priority = 1 + 1 , delay_ms = 10 * 2 } end";

/** A program with some pieces left out, doubled or replaced. */
function program(pick: (below: number) => number): string {
  const pieces = WHOLE.split(" ");
  const other = PIECES.split(" ");
  for (let changes = pick(4); changes > 0; changes--) {
    const piece = other[pick(other.length)]!;
    const copy = pieces[pick(pieces.length)]!;
    const put = [[], [piece], [copy, copy]][pick(3)]!;
    pieces.splice(pick(pieces.length), pick(2), ...put);
  }
  return pieces.join(" ");
}

test(`${PROGRAMS} programs of random pieces: each is refused or run, no job is lost`, async () => {
  const { broker, clock } = await open();
  const pick = random(7);
  let taken = 0;
  for (let i = 0; i < PROGRAMS; i++) {
    try {
      await broker.setQueue("q", { policy: { lua: program(pick) } });
      taken++;
    } catch (error) {
      assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
      continue;
    }
    const outcomes = await broker.add("q", [job("x"), job("y", { headers: { n: "1" } })]);
    for (const { ok, error } of outcomes) assert.ok(ok, error?.message);
    await clock.advance(10_000);
  }
  assert.ok(taken > 0 && taken < PROGRAMS);
});
