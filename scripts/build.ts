// Builds what is published: every package into a folder of `dist`, as it will be installed.
// Development never needs this: Node runs the sources as they are.

import { dirname, relative } from "node:path";
import { stagePackages } from "./build/stage.ts";

const root = dirname(import.meta.dirname);
for (const { name, folder } of await stagePackages(root)) {
  console.log(`${name.padEnd(20)} ${relative(root, folder)}`);
}
