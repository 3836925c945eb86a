// One file to run: Node itself, with the command, the page and the programs of threads inside.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inject } from "postject";
import { rolldown } from "rolldown";
import { asScript, luaGlue, packaged } from "./executable/plugins.ts";

// Node looks for its program under this name, and behind this mark whether there is one.
const RESOURCE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const PROGRAM = "packages/cli/src/main.ts";
// By the names that those who start them use.
const THREADS: Readonly<Record<string, string>> = {
  "handlers-thread.js": "apps/jobserver/src/runners/main.ts",
  "io-thread.js": "packages/server/src/threads/thread/main.ts",
  "lua-thread.js": "packages/broker/src/policy/lua/main.ts",
  "xml-thread.js": "apps/torznab/src/xml/thread/main.ts",
};

// Loaded by `ws` if they are there; they are not.
const ABSENT = ["bufferutil", "utf-8-validate"];

// Answers the path of the executable. The page must have been built.
export async function buildExecutable(root: string): Promise<string> {
  const work = join(root, "dist", "executable");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const main = join(work, "sluice.js");
  await bundle(root, PROGRAM, main);
  const assets = pageOf(root);
  for (const [name, source] of Object.entries(THREADS)) {
    assets[name] = join(work, name);
    await bundle(root, source, assets[name]);
  }
  const program = join(root, "dist", process.platform === "win32" ? "sluice.exe" : "sluice");
  rmSync(program, { force: true });
  copyFileSync(process.execPath, program);
  chmodSync(program, 0o755);
  await inject(program, RESOURCE, blobOf(work, main, assets), { sentinelFuse: FUSE });
  rmSync(work, { recursive: true });
  return program;
}

async function bundle(root: string, source: string, output: string): Promise<void> {
  const entry = join(root, source);
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: "node",
    external: ABSENT,
    plugins: [asScript(entry), packaged(root), luaGlue(root)],
    transform: { define: { "import.meta.url": '"file:///sluice/program.js"' } },
    checks: { pluginTimings: false },
    onLog: (_level, log) => {
      throw new Error(`${source}: ${log.message}`);
    },
  });
  await build.write({ file: output, format: "cjs", codeSplitting: false, comments: false });
  await build.close();
}

function pageOf(root: string): Record<string, string> {
  const folder = join(root, "packages", "dashboard", "dist", "page");
  const files = globSync("**/*.*", { cwd: folder }).map((file) => file.replaceAll("\\", "/"));
  if (!files.includes("index.html")) throw new Error(`${folder} has no page: build it first`);
  return Object.fromEntries(files.map((file) => [`page/${file}`, join(folder, file)]));
}

function blobOf(work: string, main: string, assets: Readonly<Record<string, string>>): Buffer {
  const output = join(work, "blob");
  const config = join(work, "sea.json");
  const settings = {
    main,
    output,
    assets,
    disableExperimentalSEAWarning: true,
    // What V8 has compiled comes along: the program starts without reading all of its text.
    useCodeCache: true,
  };
  writeFileSync(config, JSON.stringify(settings));
  const { status } = spawnSync(process.execPath, ["--experimental-sea-config", config], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("node could not prepare the executable's program");
  return readFileSync(output);
}
