// An engine with a bug: a copy of the sources with one piece of text replaced. The engine itself
// has no switch for bugs and never gets one.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { letterQueueConfig } from "@sluice/protocol";
import type { MakeEngine } from "../broker/broker.ts";
import type { PlantedBug } from "./planted.ts";

// The piece stands so near to the text that it is looked for after.
const REACH_CHARS = 1_500;

export async function plant(bug: PlantedBug): Promise<MakeEngine> {
  const source = dirname(fileURLToPath(import.meta.resolve("@sluice/engine")));
  const folder = mkdtempSync(join(tmpdir(), "sluice-planted-"));
  try {
    cpSync(source, folder, { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
    // Outside of a package Node has to be told what kind of modules these are.
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const file = join(folder, bug.file);
    writeFileSync(file, replaceOnce(readFileSync(file, "utf8"), bug));
    const { Engine } = await import(pathToFileURL(join(folder, "index.ts")).href);
    return (options) => new Engine({ ...options, letterQueue: letterQueueConfig });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function replaceOnce(text: string, { file, within, find, put }: PlantedBug): string {
  const from = text.indexOf(within);
  assert.ok(from >= 0, `${file} has no ${within}`);
  assert.equal(text.indexOf(within, from + 1), -1, `${file} has ${within} twice`);
  const at = text.indexOf(find, from);
  const isNear = at >= 0 && at - from < REACH_CHARS;
  assert.ok(isNear, `${file} has no ${find} within ${REACH_CHARS} characters of ${within}`);
  return text.slice(0, at) + put + text.slice(at + find.length);
}
