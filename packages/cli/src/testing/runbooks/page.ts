// The code blocks of a page of the documentation, by the headings above them.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const DOCS = join(import.meta.dirname, "..", "..", "..", "..", "..", "docs");

export interface Block {
  // What the fence says: `sh`, or nothing.
  readonly language: string;
  readonly text: string;
}

// The blocks below the first heading, or paragraph in bold, that begins with this title.
export function blocksUnder(page: string, title: string): Block[] {
  const lines = readFileSync(join(DOCS, page), "utf8").split("\n");
  const isTitle = (line: string): boolean => /^(#+ |\*\*)/.test(line);
  const from = lines.findIndex((line) => line.replace(/^(#+ |\*\*)/, "").startsWith(title));
  if (from === -1) throw new Error(`${page} has no heading "${title}"`);
  const blocks: Block[] = [];
  let open: string[] | undefined;
  let language = "";
  for (const line of lines.slice(from + 1)) {
    if (open === undefined && isTitle(line)) break;
    if (!line.startsWith("```")) open?.push(line);
    else if (open === undefined) {
      open = [];
      language = line.slice(3);
    } else {
      blocks.push({ language, text: open.join("\n") });
      open = undefined;
    }
  }
  return blocks;
}
