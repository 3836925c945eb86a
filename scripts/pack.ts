// Builds all packages and puts a tarball of each into `dist`: what `npm publish` would send.

import { execFileSync } from "node:child_process";
import { dirname, join, relative } from "node:path";
import { stagePackages } from "./build/stage.ts";

const root = dirname(import.meta.dirname);
const dist = join(root, "dist");

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
}

const staged = await stagePackages(root);
const folders = staged.map(({ folder }) => `./${relative(root, folder)}`);
const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", dist, ...folders];
const answer = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" }));
// npm 11 answers a list, later ones an object by name.
for (const { filename, size, unpackedSize } of Object.values<Packed>(answer)) {
  const figures = [size, unpackedSize].map((bytes) => `${Math.ceil(bytes / 1000)} kB`.padStart(8));
  console.log(`${filename.padEnd(32)} ${figures[0]} packed ${figures[1]} unpacked`);
}
