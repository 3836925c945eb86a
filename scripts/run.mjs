// Starts a TypeScript program of this repository under a Node that can run it.
//
// This file is plain JavaScript without newer syntax, so that even an old Node can parse it and
// say what is missing, where a TypeScript file would only end in a syntax error.
//
//   node scripts/run.mjs [node options] program.ts [arguments]

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const NODE_MAJOR_MIN = 24;
const root = dirname(dirname(fileURLToPath(import.meta.url)));

function isRecentEnough(version) {
  return Number(version.replace(/^v/, "").split(".")[0]) >= NODE_MAJOR_MIN;
}

function ownNode() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const path = join(root, "node_modules", "node", "bin", name);
  if (!existsSync(path)) return undefined;
  const answer = spawnSync(path, ["--version"], { encoding: "utf8" });
  return answer.status === 0 && isRecentEnough(answer.stdout.trim()) ? path : undefined;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

function runWith(node, args) {
  const child = spawn(node, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // Ctrl-C in a terminal reaches the child by itself; a second one would look like impatience.
      if (signal === "SIGINT" && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`Could not start ${node}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const args = process.argv.slice(2);
const programIndex = args.findIndex((arg) => !arg.startsWith("-"));
if (programIndex === -1) fail("Usage: node scripts/run.mjs [node options] program.ts [arguments]");
const nodeOptions = args.slice(0, programIndex);
const program = resolve(root, args[programIndex]);
const programArgs = args.slice(programIndex + 1);

const isGood = isRecentEnough(process.version);
const node = isGood ? process.execPath : ownNode();
if (node === undefined) {
  fail(
    `Sluice needs Node ${NODE_MAJOR_MIN} or newer and this is Node ${process.version}: ` +
      "run `npm install` in the repository, it brings its own.",
  );
} else if (!existsSync(program)) {
  fail(`There is no ${args[programIndex]} in this repository.`);
} else if (isGood && nodeOptions.length === 0) {
  process.argv = [process.execPath, program].concat(programArgs);
  import(pathToFileURL(program).href);
} else {
  runWith(node, nodeOptions.concat([program], programArgs));
}
