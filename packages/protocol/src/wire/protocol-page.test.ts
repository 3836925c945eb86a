import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FrameWriter, KIND, writeAdded, writeHello, writeNewJob } from "./index.ts";

const PAGE = join(import.meta.dirname, "..", "..", "..", "..", "docs", "protocol.md");

/** The lines of the conversation on the page, without spaces and remarks. */
function conversation(): string[] {
  const [, block = ""] = readFileSync(PAGE, "utf8").split("## One conversation")[1]!.split("```");
  return block
    .trim()
    .split("\n")
    .map((line) => line.replace(/^(?:client|server)\s+/, "").replace(/\s{3,}.*/, ""))
    .map((line) => line.replaceAll(" ", ""));
}

function written(write: (writer: FrameWriter) => void): string {
  const writer = new FrameWriter();
  write(writer);
  return Buffer.from(writer.take()).toString("hex");
}

test("the conversation on the page is what the code writes", () => {
  const [hello, , add, added] = conversation();
  const greeting = { version: 1, apiKey: undefined, client: "me", session: "", received: 0 };
  assert.equal(
    hello,
    written((writer) => writeHello(writer, { ...greeting, isResumable: false })),
  );
  const adding = written((writer) => {
    writer.begin(KIND.add, 1);
    writer.text("q");
    writer.text("");
    writer.u8(0);
    writer.u32(1);
    writeNewJob(writer, { payload: new TextEncoder().encode("hi") });
    writer.end();
  });
  assert.equal(add, adding);
  const answer = written((writer) => {
    writer.begin(KIND.added, 1);
    writeAdded(writer, [{ ok: { id: "a1", tier: 3 } }]);
    writer.end();
  });
  assert.equal(added, answer);
});

test("the page names every kind of frame", () => {
  const page = readFileSync(PAGE, "utf8");
  for (const [name, kind] of Object.entries(KIND)) {
    assert.ok(page.includes(`0x${kind.toString(16).padStart(2, "0")}`), name);
  }
});
