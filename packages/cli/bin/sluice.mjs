#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what is missing instead of failing to parse.

import { existsSync } from "node:fs";

const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR_MIN) {
  console.error(`sluice needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}.`);
  process.exit(1);
}

// What is published has its JavaScript in dist; in the repository Node runs the sources.
const built = new URL("../dist/main.js", import.meta.url);
await import(existsSync(built) ? built.href : new URL("../src/main.ts", import.meta.url).href);
