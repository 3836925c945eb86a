// Pages link to files of the repository, such as an example. The site has no such page: there the
// link leads to the repository.

import { posix } from "node:path";

export const REPOSITORY = "https://github.com/sluice-queue/sluice";

interface Token {
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface Environment {
  readonly relativePath?: string;
}

type Render = (
  tokens: Token[],
  index: number,
  options: object,
  env: Environment,
  self: {
    renderToken(tokens: Token[], index: number, options: object): string;
  },
) => string;

/** A rule of markdown-it, before VitePress checks and rewrites links. */
export function toRepository(markdown: { renderer: { rules: Record<string, unknown> } }): void {
  const { rules } = markdown.renderer;
  const next = rules.link_open as Render | undefined;
  rules.link_open = ((tokens, index, options, env, self) => {
    const token = tokens[index]!;
    const target = outside(token.attrGet("href") ?? "", env.relativePath ?? "");
    if (target !== undefined) token.attrSet("href", target);
    return next?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
  }) satisfies Render;
}

/** Where a link out of docs/ leads to; undefined for all others. */
function outside(href: string, page: string): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(href) || href === "") return undefined;
  const path = posix.join("docs", posix.dirname(page), href);
  const isPage = path.startsWith("docs/") && /(?:\.md|\/)(?:#.*)?$/.test(path);
  return isPage ? undefined : `${REPOSITORY}/blob/main/${path}`;
}
