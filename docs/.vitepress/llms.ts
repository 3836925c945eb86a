// llms.txt and llms-full.txt: the same pages for programs that read text.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const HEAD = `# Sluice

> A durable job queue and broker for TypeScript that decides at dispatch time which job a worker gets: fair
> between tenants, aware of rate limits, safe over crashes.
`;
/** In the order in which a reader needs them. */
const FOLDERS = ["start", "guides", "concepts", "coming-from", "reference", "."];

export function writeLlmsTexts(docs: string, out: string): void {
  const pages = FOLDERS.flatMap((folder) => pagesIn(docs, folder));
  const rows = pages.map(({ path, title }) => `- [${title}](/${path.replace(/\.md$/, ".html")})`);
  writeFileSync(join(out, "llms.txt"), [HEAD, ...rows, ""].join("\n"));
  const texts = pages.map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`);
  writeFileSync(join(out, "llms-full.txt"), [HEAD, ...texts].join("\n"));
}

function pagesIn(docs: string, folder: string): { path: string; title: string; text: string }[] {
  return globSync("*.md", { cwd: join(docs, folder) })
    .filter((name) => name !== "index.md")
    .sort()
    .map((name) => {
      const path = folder === "." ? name : `${folder}/${name}`;
      const text = readFileSync(join(docs, path), "utf8");
      return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
    });
}
