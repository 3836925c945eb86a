// A block of code with a file name (three backticks, `ts first.ts`) shows the name above the code.

interface Token {
  readonly info: string;
}

type Render = (tokens: Token[], index: number, ...others: unknown[]) => string;

/** A rule of markdown-it, around the one of VitePress that colours the code. */
export function withFileNames(markdown: { renderer: { rules: Record<string, unknown> } }): void {
  const { rules } = markdown.renderer;
  const next = rules.fence as Render;
  rules.fence = ((tokens, index, ...others) => {
    const name = /^\w+ ([\w./-]+\.\w+)$/.exec(tokens[index]!.info.trim())?.[1];
    const code = next(tokens, index, ...others);
    return name === undefined ? code : `<p class="file-name"><code>${name}</code></p>\n${code}`;
  }) satisfies Render;
}
