// The package.json that is published, made from the one in the repository. There `exports` names
// sources, which Node runs as they are; here it names what was built from them.

import { browserEntryName, entryName, publishedExports, type SourceManifest } from "./packages.ts";

export interface Release {
  readonly version: string;
  readonly repository: string;
  // Names of all packages of the release: they depend on each other by exactly this version.
  readonly names: ReadonlySet<string>;
}

const NODE_MIN = ">=22.18";
const KEYWORDS = ["queue", "job-queue", "broker", "scheduler", "rate-limit", "fairness", "durable"];
const COPIED = ["type", "sideEffects"] as const;

export function publishedManifest(
  source: SourceManifest,
  release: Release,
  folder: string,
): Record<string, unknown> {
  const { name, description, bin, keywords = [] } = source;
  const { version, repository } = release;
  return {
    name,
    version,
    description,
    keywords: [...KEYWORDS, ...keywords],
    license: "MIT",
    homepage: `${repository}#readme`,
    repository: { type: "git", url: `git+${repository}.git`, directory: folder },
    bugs: `${repository}/issues`,
    engines: { node: NODE_MIN },
    ...Object.fromEntries(
      COPIED.filter((field) => field in source).map((field) => [field, source[field]]),
    ),
    bin,
    exports: builtExports(source),
    ...pinned("dependencies", source.dependencies, release),
    ...pinned("peerDependencies", source.peerDependencies, release),
    peerDependenciesMeta: source.peerDependenciesMeta,
    publishConfig: { access: "public" },
  };
}

// Types first: TypeScript takes the first condition that fits, and every condition has the same.
function builtExports(source: SourceManifest): Record<string, unknown> {
  const built = Object.entries(publishedExports(source)).map(([path, target]) => {
    const conditions = typeof target === "string" ? { default: target } : target;
    const main = conditions.default;
    if (main === undefined) throw new Error(`${source.name}: exports["${path}"] needs a default`);
    const files = Object.entries(conditions).map(([condition, file]) => [
      condition,
      builtOf(file, condition),
    ]);
    return [path, { types: typesOf(main), ...Object.fromEntries(files) }];
  });
  return { ...Object.fromEntries(built), "./package.json": "./package.json" };
}

function builtOf(source: string, condition: string): string {
  return `./dist/${condition === "browser" ? browserEntryName(source) : entryName(source)}.js`;
}

function typesOf(source: string): string {
  return source.replace("./src/", "./dist/types/").replace(/\.ts$/, ".d.ts");
}

function pinned(
  field: string,
  found: Readonly<Record<string, string>> | undefined,
  { names, version }: Release,
): Record<string, unknown> {
  if (found === undefined) return {};
  const entries = Object.entries(found).map(([name, range]) => [
    name,
    names.has(name) ? version : range,
  ]);
  return { [field]: Object.fromEntries(entries) };
}
