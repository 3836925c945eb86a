// The path of one job: `npm run path [--files]`.
//
//   files    an embedded job, `add` to durable ack: the files of which a function ran, by V8
//   stacks   call stacks of that job that enter a package twice, such as broker > engine > broker
//   layers   implementations of the Broker port that a job crosses in a node of a cluster
//
// Ends with 1 when one of them is above its bound. `--files` lists the files.

import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectBroker } from "@sluice/client/remote";
import { ROOT_KEY } from "./path/cluster-key.ts";
import { layersIn } from "./path/layers.ts";
import type { RanFile } from "./path/ran.ts";

const FILES_MAX = 66;
const LAYERS_MAX = 4;

const folder = join(import.meta.dirname, "path");
const isListing = process.argv.includes("--files");

function embedded<T>(mode: "files" | "stacks"): T {
  const first = mode === "stacks" ? ["--import", join(folder, "note-stacks.ts")] : [];
  const args = [...first, join(folder, "embedded-job.ts"), mode];
  const child = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

// The client is here, the node in a process of its own: only the node is counted.
async function nodeFiles(): Promise<readonly RanFile[]> {
  const stdio = ["pipe", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, [join(folder, "cluster-node.ts")], { stdio: [...stdio] });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const said = async <T>(): Promise<T> => JSON.parse((await lines.next()).value ?? "null");
  const client = await connectBroker(await said<string>(), { apiKey: ROOT_KEY });
  const job = { payload: new Uint8Array(1) };
  const oneJob = async (): Promise<void> => {
    const [leased] = await client.lease("path", { max: 1, wait: 5_000 });
    await client.ack([{ lease: leased!.lease }]);
  };
  try {
    await client.setQueue("path", {});
    await client.add("path", [job]);
    await oneJob();
    child.stdin!.write("\n");
    await said();
    await client.add("path", [job]);
    await oneJob();
    child.stdin!.write("\n");
    return await said<readonly RanFile[]>();
  } finally {
    child.kill();
    await client.close({ timeout: 0 });
  }
}

const files = embedded<readonly RanFile[]>("files").map(({ path }) => path);
const units = Map.groupBy(files, (path) => path.slice(0, path.indexOf("/")));
for (const [unit, paths] of units) {
  console.log(`${unit.padEnd(10)}${paths.length}`);
  if (isListing) for (const path of paths.sort()) console.log(`  ${path}`);
}
console.log(`files     ${files.length}, at most ${FILES_MAX}`);
const stacks = embedded<readonly string[]>("stacks");
console.log(`stacks    ${stacks.length} enter a package twice, at most 0`);
for (const stack of stacks) console.log(`  ${stack}`);
const layers = layersIn(await nodeFiles());
console.log(`layers    ${layers.length} of the port in a node of a cluster, at most ${LAYERS_MAX}`);
for (const layer of layers) console.log(`  ${layer}`);
const isWithin = files.length <= FILES_MAX && stacks.length === 0 && layers.length <= LAYERS_MAX;
process.exitCode = isWithin ? 0 : 1;
