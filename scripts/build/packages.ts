// The packages that are published: every workspace in `packages` and `apps` that is not private.

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type Exports = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export interface SourceManifest {
  readonly name: string;
  readonly description: string;
  readonly private?: boolean;
  readonly exports?: Exports;
  readonly bin?: Readonly<Record<string, string>>;
  readonly keywords?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface SourcePackage {
  // Relative to the root, such as `packages/engine`.
  readonly folder: string;
  readonly manifest: SourceManifest;
}

// Programs of worker threads. Nothing imports them, so a bundler does not find them by itself. The
// file that starts one names it by the name given here.
const THREADS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "@sluice/jobserver": { "handlers-thread": "src/runners/main.ts" },
  "@sluice/broker": { "lua-thread": "src/policy/lua/main.ts" },
  "@sluice/server": { "io-thread": "src/threads/thread/main.ts" },
  "@sluice/torznab": { "xml-thread": "src/xml/thread/main.ts" },
};

// What tests share with other packages. It stays in the repository.
const UNPUBLISHED = /^\.\/testing(\/|$)/;

export function findPackages(root: string): SourcePackage[] {
  return globSync("{packages,apps}/*/package.json", { cwd: root })
    .sort()
    .map((path) => ({
      folder: dirname(path).replaceAll("\\", "/"),
      manifest: JSON.parse(readFileSync(join(root, path), "utf8")) as SourceManifest,
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

export function publishedExports({ exports = {} }: SourceManifest): Exports {
  return Object.fromEntries(Object.entries(exports).filter(([path]) => !UNPUBLISHED.test(path)));
}

// Sources by the name of the file in `dist` that each becomes, without `.js`.
export function entriesOf({ manifest }: SourcePackage): Map<string, string> {
  const entries = new Map(Object.entries(THREADS[manifest.name] ?? {}));
  for (const target of Object.values(publishedExports(manifest))) {
    const source = typeof target === "string" ? target : target.default;
    if (source !== undefined) entries.set(entryName(source), source.replace("./", ""));
  }
  return entries;
}

// The same for what `exports` has under the condition `browser`.
export function browserEntriesOf({ manifest }: SourcePackage): Map<string, string> {
  const entries = new Map<string, string>();
  for (const target of Object.values(publishedExports(manifest))) {
    const source = typeof target === "string" ? undefined : target.browser;
    if (source !== undefined) entries.set(browserEntryName(source), source.replace("./", ""));
  }
  return entries;
}

export function browserEntryName(source: string): string {
  return `${entryName(source)}.browser`;
}

// `./src/remote/index.ts` becomes `remote`, `./src/codec/read-facts.ts` becomes `codec-read-facts`.
export function entryName(source: string): string {
  const path = source.replace(/^\.\/src\//, "").replace(/\.ts$/, "");
  return path.replace(/\/index$/, "").replaceAll("/", "-");
}
