// The cells of a row of options, as the reference pages show them.

import type { Kind, Parts } from "@sluice/protocol";

export function wordsOf({ words, parts }: Kind): string {
  return parts === undefined ? words : words.replace(/an object with .*/, "an object");
}

export function defaultOf(row: Parts[string]): string {
  if (row.isRequired === true) return "required";
  if (row.reckoned !== undefined) return row.reckoned;
  if (row.default === undefined) return row.kind.isNullable === true ? "null" : "none";
  const isWhole = row.kind.parts !== undefined && typeof row.default === "object";
  return isWhole ? "see below" : `\`${JSON.stringify(row.default)}\``;
}

export function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
