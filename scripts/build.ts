// Builds what is published: every package into a folder of `dist`, as it will be installed. With
// `--executable`: the command and all that it starts as one file, `dist/sluice`.
// Development never needs this: Node runs the sources as they are.

import { dirname, relative } from "node:path";
import { buildExecutable } from "./build/executable.ts";
import { buildPage, stagePackages } from "./build/stage.ts";

const root = dirname(import.meta.dirname);
const unknown = process.argv.slice(2).filter((argument) => argument !== "--executable");
if (unknown.length > 0) {
  console.error(`${unknown.join(" ")} is not an option of the build; there is --executable`);
  process.exit(2);
}
if (process.argv.includes("--executable")) {
  buildPage(root);
  console.log(relative(root, await buildExecutable(root)));
} else {
  for (const { name, folder } of await stagePackages(root)) {
    console.log(`${name.padEnd(20)} ${relative(root, folder)}`);
  }
}
