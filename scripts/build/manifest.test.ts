import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publishedManifest } from "./manifest.ts";

const RELEASE = {
  version: "1.2.3",
  repository: "https://example.org/sluice",
  names: new Set(["sluice", "@sluice/engine", "@sluice/server"]),
};

const manifest = (fields: object): Record<string, unknown> =>
  publishedManifest({ name: "sluice", description: "d", ...fields }, RELEASE, "packages/sluice");

test("exports name what was built, with types first", () => {
  const { exports } = manifest({
    exports: {
      ".": { browser: "./src/client.ts", default: "./src/index.ts" },
      "./remote": "./src/remote/index.ts",
      "./facts": "./src/codec/read-facts.ts",
      "./testing": "./src/testing/clock.ts",
      "./testing/postgres": "./src/testing/postgres.ts",
    },
  });
  assert.deepEqual(exports, {
    ".": {
      types: "./dist/types/index.d.ts",
      browser: "./dist/client.browser.js",
      default: "./dist/index.js",
    },
    "./remote": { types: "./dist/types/remote/index.d.ts", default: "./dist/remote.js" },
    "./facts": {
      types: "./dist/types/codec/read-facts.d.ts",
      default: "./dist/codec-read-facts.js",
    },
    "./package.json": "./package.json",
  });
  const main = (exports as Record<string, unknown>)["."] as object;
  assert.equal(Object.keys(main)[0], "types");
});

test("packages of one release depend on each other by its version", () => {
  const made = manifest({
    dependencies: { "@sluice/engine": "0.0.0", ws: "^8.0.0" },
    peerDependencies: { "@sluice/server": "0.0.0" },
    devDependencies: { "fast-check": "^4.0.0" },
  });
  assert.equal(made.version, "1.2.3");
  assert.deepEqual(made.dependencies, { "@sluice/engine": "1.2.3", ws: "^8.0.0" });
  assert.deepEqual(made.peerDependencies, { "@sluice/server": "1.2.3" });
  assert.equal(made.devDependencies, undefined);
});

test("an entry without a default is refused", () => {
  assert.throws(() => manifest({ exports: { ".": { browser: "./src/client.ts" } } }), /default/);
});

test("the library, its command and its manifest need the same Node", () => {
  const sluice = join(import.meta.dirname, "../../packages/sluice");
  const needed = ["bin/sluice.mjs", "src/runtime.ts"].map((file) => {
    const found = /NODE_MIN = \[(\d+), (\d+)\]/.exec(readFileSync(join(sluice, file), "utf8"));
    return `>=${found?.[1]}.${found?.[2]}`;
  });
  const { node } = manifest({}).engines as { node: string };
  assert.deepEqual(needed, [node, node]);
});
