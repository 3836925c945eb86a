// The page of the library has the words of the public interface that programs meet first.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Sluice } from "sluice";

const PAGE = join(import.meta.dirname, "..", "..", "..", "docs", "reference", "library.md");
const SECTIONS = new Map(
  readFileSync(PAGE, "utf8")
    .split("\n## ")
    .slice(1)
    .map((text): [string, string] => [text.split("\n")[0] ?? "", text]),
);

/** The methods that an object offers, those of its parents included. */
function methodsOf(thing: object): string[] {
  const names = new Set<string>();
  for (let at = thing; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  names.delete("constructor");
  return [...names].filter((name) => typeof Reflect.get(thing, name) === "function");
}

/** Every emitter has them; the head of the page and the guides say what they do. */
const OF_EMITTERS = new Set(["on", "off", "once", "emit"]);
/** Marked `@internal`: the connection calls them. */
const INTERNAL = new Set(["jobsGone", "checkLeases"]);

test("every method of the objects that programs hold is on the page", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  const mail = await sluice.queue("mail");
  const worker = mail.work(() => {});
  const things = {
    Sluice: sluice,
    Queue: mail,
    Job: await mail.add(1),
    Worker: worker,
    Gate: sluice.gate("smtp"),
    Group: mail.group("batch"),
    Store: sluice.store("settings"),
  };
  for (const [name, thing] of Object.entries(things)) {
    const section = SECTIONS.get(name) ?? "";
    const missing = methodsOf(thing).filter(
      (method) =>
        ![OF_EMITTERS, INTERNAL].some((names) => names.has(method)) &&
        !new RegExp(`- \`(static )?${method}[<(]`).test(section),
    );
    assert.deepEqual(missing, [], name);
  }
});
