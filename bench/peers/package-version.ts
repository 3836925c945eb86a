// The version of an npm package that is measured here, after its name.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGES = join(import.meta.dirname, "../../node_modules");

export function packageVersion(name: string): string {
  const manifest = readFileSync(join(PACKAGES, name, "package.json"), "utf8");
  return `${name} ${JSON.parse(manifest).version}`;
}
