#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what is missing instead of failing to parse.

const NODE_MIN = [22, 18];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])) {
  console.error(
    `sluice needs Node ${NODE_MIN.join(".")} or newer; this is Node ${process.version}.`,
  );
  process.exit(1);
}

// Before the command is loaded, or Node would compile that without the cache.
const { keepCompiled } = await import("@sluice/cli/compile-cache");
keepCompiled(process.env);
await import("@sluice/cli");
