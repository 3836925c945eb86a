// The code blocks of a page, in their order. A page is a script for a reader:
//   ```ts first.ts    a file to write (any language, when a name follows it)
//   ```sh             commands to type
//   ```text           what the last command prints; a line `...` is any number of lines
// Blocks in other languages, and `ts` without a name, only show something: commands for a server of
// yours are `bash`.

/** A comment `# exits with 1` behind a command says that it fails. */
export interface Command {
  readonly line: string;
  readonly exitCode: number;
}

export type Block =
  | { readonly kind: "file"; readonly name: string; readonly text: string; readonly line: number }
  | { readonly kind: "commands"; readonly commands: readonly Command[]; readonly line: number }
  | { readonly kind: "output"; readonly text: string; readonly line: number };

const FENCE = /^```(\w+)(?: +([\w./-]+))?\n([\s\S]*?)^```$/gm;

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(FENCE)].flatMap(
    ({ 1: language, 2: name, 3: text = "", index }): Block[] => {
      const line = page.slice(0, index).split("\n").length;
      if (name !== undefined) return [{ kind: "file", name, text, line }];
      if (language === "sh") return [{ kind: "commands", commands: commandsOf(text), line }];
      return language === "text" ? [{ kind: "output", text, line }] : [];
    },
  );
}

function commandsOf(text: string): Command[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((typed) => ({
      line: typed.replace(/(^| +)#.*$/, "").trim(),
      exitCode: Number(/# exits with (\d+)$/.exec(typed)?.[1] ?? 0),
    }))
    .filter(({ line }) => line !== "");
}

/** Whether a text is what a page says it is. */
export function isAsShown(shown: string, printed: string): boolean {
  const pattern = shown
    .trimEnd()
    .split("\n")
    .map((line) => (line === "..." ? "[\\s\\S]*?" : patternOf(line)))
    .join("\\n");
  return new RegExp(`^${pattern}\\s*$`).test(printed);
}

/** Digits in a duration or a time differ from run to run: a page writes them as `#`. */
function patternOf(line: string): string {
  return line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/#+/g, "[0-9.,:-]+");
}
