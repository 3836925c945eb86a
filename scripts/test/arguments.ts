// What `npm test -- ...` asks for.
//
//   (nothing)        every suite of `npm test`
//   quick            types, lint, tidy and the unit tests nearest to what differs from main
//   unit property    the named suites
//   e2e              the tests that need programs npm does not bring, and the builds they use
//   --file <path>    one test file, under the budget of its suite

import { resolve } from "node:path";
import { belongsTo } from "./files.ts";
import { E2E_SUITES, SUITES, type Suite } from "./suites.ts";

export interface Plan {
  readonly suites: readonly Suite[];
  readonly file: string | undefined;
}

export class UsageError extends Error {}

export function parseArguments(
  args: readonly string[],
  root: string,
  files: readonly string[],
): Plan {
  if (args.length === 0) return { suites: SUITES, file: undefined };
  if (args[0] === "--file") return planForFile(args, root, files);
  if (args.join() === "e2e") return { suites: E2E_SUITES, file: undefined };
  return { suites: args.map(suiteNamed), file: undefined };
}

function suiteNamed(name: string): Suite {
  const all = [...SUITES, ...E2E_SUITES];
  const suite = all.find((candidate) => candidate.name === name);
  if (suite !== undefined) return suite;
  throw new UsageError(
    `There is no suite "${name}"; there are ${all.map((s) => s.name).join(", ")}.`,
  );
}

function planForFile(args: readonly string[], root: string, files: readonly string[]): Plan {
  const path = args[1];
  if (path === undefined || args.length !== 2) throw new UsageError("Usage: --file <path>");
  const file = files.find((candidate) => resolve(root, candidate) === resolve(root, path));
  if (file === undefined) throw new UsageError(`There is no test file ${path}.`);
  return { suites: [...SUITES, ...E2E_SUITES].filter((s) => belongsTo(s, file)), file };
}
