// What a package page shows.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceManifest } from "./packages.ts";

// Links into the repository lead nowhere from a package page; pictures are needed as files.
export function mainReadme(root: string, repository: string): string {
  const text = readFileSync(join(root, "README.md"), "utf8");
  return text
    .replaceAll(/(!\[[^\]]*\])\((?!https?:)([^)]+)\)/g, `$1(${repository}/raw/main/$2)`)
    .replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, `](${repository}/blob/main/$1)`);
}

export function partReadme({ name, description }: SourceManifest, repository: string): string {
  return `# ${name}

${description}

A part of [Sluice](${repository}), a durable job queue that decides at dispatch time. The package to
start with is \`sluice\`: \`npm install sluice\`. All packages of a release have the same version.

MIT licensed.
`;
}
