// What `npm test -- ...` asks for.
//
//   (nothing)        every suite of `npm test`
//   quick            types, lint, tidy and the unit tests nearest to what differs from main
//   unit property    the named suites
//   e2e              the tests that need programs npm does not bring, and the builds they use
//   --file <path>    one test file, under the budget of its suite; may be repeated

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { belongsTo } from "./files.ts";
import { E2E_SUITES, SUITES, type Suite } from "./suites.ts";

export interface Plan {
  readonly suites: readonly Suite[];
  // Only these; undefined: every file of the suites.
  readonly files: readonly string[] | undefined;
}

export class UsageError extends Error {}

export function parseArguments(
  args: readonly string[],
  root: string,
  files: readonly string[],
): Plan {
  if (args.length === 0) return { suites: SUITES, files: undefined };
  // `npm run test:e2e -- --file <path>` puts `e2e` before it.
  const named = args[0] === "e2e" ? args.slice(1) : args;
  if (named[0] === "--file") return planForFiles(named, root, files);
  if (args.join() === "e2e") return { suites: E2E_SUITES, files: undefined };
  return { suites: args.map(suiteNamed), files: undefined };
}

function suiteNamed(name: string): Suite {
  const all = [...SUITES, ...E2E_SUITES];
  const suite = all.find((candidate) => candidate.name === name);
  if (suite !== undefined) return suite;
  throw new UsageError(
    `There is no suite "${name}"; there are ${all.map((s) => s.name).join(", ")}.`,
  );
}

function planForFiles(args: readonly string[], root: string, known: readonly string[]): Plan {
  const files = pathsOf(args).map((path) => {
    const file = known.find((candidate) => resolve(root, candidate) === resolve(root, path));
    if (file === undefined) throw new UsageError(`There is no test file ${path}.`);
    return file;
  });
  const suites = [...SUITES, ...E2E_SUITES].filter((s) => files.some((f) => belongsTo(s, f)));
  return { suites, files };
}

function pathsOf(args: readonly string[]): readonly string[] {
  const options = { file: { type: "string", multiple: true } } as const;
  try {
    return parseArgs({ args: [...args], options }).values.file!;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nUsage: --file <path>`);
  }
}
