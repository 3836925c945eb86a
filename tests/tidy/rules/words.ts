// Words that have no place in a finished tree: notes to oneself, and the paths of one machine.

import type { Finding, SourceFile, Tree } from "../tree.ts";

const PATTERNS: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  {
    pattern: /\b(?:TODO|FIXME|XXX)\b/,
    message: "a note to oneself: do it now, or write down the limit as a sentence",
  },
  {
    pattern: /(?<![\w.~-])\/(?:work|root|Users\/\w+|home\/\w+)(?:\/|\b(?![\w-]))/,
    message: "the absolute path of one machine",
  },
];

// The rules and their tests must spell what they forbid.
const EXEMPT = "tests/tidy/";

export function words(tree: Tree): Finding[] {
  return tree.filter(({ path }) => !path.startsWith(EXEMPT)).flatMap(checkFile);
}

function checkFile({ path, text }: SourceFile): Finding[] {
  return text.split("\n").flatMap((line, index) =>
    PATTERNS.filter(({ pattern }) => pattern.test(line)).map(({ message }) => ({
      path,
      line: index + 1,
      message,
    })),
  );
}
