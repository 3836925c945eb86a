import assert from "node:assert/strict";
import { test } from "node:test";
import { undeclaredImports } from "./declarations.ts";

const MANIFEST = {
  name: "@sluice/server",
  description: "d",
  dependencies: { "@sluice/protocol": "0.0.0", fastify: "5.0.0" },
  peerDependencies: { ws: "8.0.0" },
};

test("declarations import files, modules of Node, dependencies and peers", () => {
  const text = `import type { Broker } from "@sluice/protocol";
    import { type Frame } from "@sluice/protocol/wire";
    import "fastify";
    export * from "./routes.ts";
    export declare const server: import("node:http").Server;
    export declare const socket: import("ws").WebSocket;`;
  assert.deepEqual(undeclaredImports(text, MANIFEST), []);
});

test("declarations that import any other package are found", () => {
  const text = `import type { Sluice } from "sluice/client";
    import {
      type Engine,
    } from '@sluice/engine';
    import "pino";
    export declare const gate: import("sluice").GateInfo;`;
  const found = ["sluice/client", "@sluice/engine", "pino", "sluice"];
  assert.deepEqual(undeclaredImports(text, MANIFEST), found);
});

test("an example in a comment is no import", () => {
  const text = `/** As in \`import { Sluice } from "sluice"\`. */
    export declare const a: 1;`;
  assert.deepEqual(undeclaredImports(text, MANIFEST), []);
});

test("a text that says from is no import", () => {
  const text = 'export type Times = Pick<Plan, "at" | "from" | "until">;';
  assert.deepEqual(undeclaredImports(text, MANIFEST), []);
});
