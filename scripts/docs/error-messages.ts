// Finds every error message in the sources and fills it with sample values, so that all of them can
// be read on one page.

import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ERROR_CODES } from "@sluice/protocol";
import { parseSync, Visitor } from "oxc-parser";
import { sampleOf } from "./error-samples.ts";
import { limitsIn } from "./limits-in.ts";

export interface Message {
  readonly code: string;
  readonly text: string;
}

const CODES = new Set<string>(ERROR_CODES);
/** Parts whose errors users do not meet. */
const LEFT_OUT = /(\.test\.ts$|\/testing\/|\/conformance\/|\/node_modules\/|packages\/sim\/)/;

export function errorMessages(root: string): Message[] {
  const sources = globSync("packages/*/src/**/*.ts", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !LEFT_OUT.test(path))
    .map((path): Source => {
      const text = readFileSync(join(root, path), "utf8");
      return { path, text, program: parseSync(path, text).program as unknown as Syntax };
    });
  const limits = new Map(
    sources.flatMap(({ text }) => [...limitsIn(text)].filter(([name]) => name.includes("_"))),
  );
  const makers = new Map(
    sources.flatMap((source) =>
      [...makersIn(source)]
        .filter(([, { isExported }]) => isExported)
        .flatMap(([name, maker]): [string, Maker][] => [
          [`${source.path}#${name}`, maker],
          [`${packageOf(source.path)}#${name}`, maker],
        ]),
    ),
  );
  const found = sources.flatMap((source) => new Messages(source, limits, makers).find());
  const byText = new Map(found.map((message) => [`${message.code} ${message.text}`, message]));
  return [...byText.values()].sort(({ text: a }, { text: b }) => (a < b ? -1 : 1));
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly program: Syntax;
}

/** What is read of a node of the syntax tree. */
interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A function that makes an error of this code, and the message as it writes it. */
interface Maker {
  readonly code: string;
  readonly params: readonly string[];
  readonly message: Syntax;
  readonly source: Source;
  readonly isExported: boolean;
}

function codeOf(node: Syntax | undefined): string | undefined {
  const code = node?.type === "Literal" ? String(node.value) : "";
  return CODES.has(code) ? code : undefined;
}

/** `unauthorized(message)` or `invalid(field, wanted, value)`, which others call with texts. */
function makersIn(source: Source): Map<string, Maker> {
  const makers = new Map<string, Maker>();
  const look = (node: object): void => {
    const { id, params, body } = node as Record<string, Syntax | Syntax[] | null>;
    const names = (params as Syntax[]).map(({ name }) => String(name ?? ""));
    const texts = new Map<string, Syntax>();
    new Visitor({
      VariableDeclarator: ({ id, init }) => {
        if (id.type === "Identifier" && init?.type === "TemplateLiteral") {
          texts.set(id.name, init as unknown as Syntax);
        }
      },
      NewExpression: (inner) => {
        const [first, second] = inner.arguments as unknown as Syntax[];
        const code = codeOf(first);
        if (code === undefined || second === undefined) return;
        const name = String(second.name);
        const isText = second.type === "TemplateLiteral" || names.includes(name);
        const message = isText ? second : texts.get(name);
        if (message === undefined || !isMadeOf(message, names)) return;
        const { start } = node as Syntax;
        const isExported = source.text.slice(0, start).endsWith("export ");
        const maker = { code, params: names, message, source, isExported };
        makers.set(String((id as Syntax | null)?.name), maker);
      },
    }).visit({ type: "Program", body: [body] } as never);
  };
  new Visitor({ FunctionDeclaration: look }).visit(source.program as never);
  return makers;
}

/** Whether texts of callers are in a message: one of numbers and names alone is read in place. */
function isMadeOf(message: Syntax, params: readonly string[]): boolean {
  if (message.type === "Identifier") return true;
  const expressions = message.expressions as Syntax[];
  return expressions.some(
    ({ type, name }) => type === "Identifier" && params.includes(String(name)),
  );
}

const packageOf = (path: string): string => path.split("/").slice(0, 2).join("/");

/** What a file imports, by name: from which file, or from which package. */
function importsOf({ path, text }: Source): Map<string, string> {
  const imports = text.matchAll(/^import (?:type )?\{([^}]*)\} from "([^"]+)";$/gm);
  return new Map(
    [...imports].flatMap(([, names = "", from = ""]) => {
      const file = posix.join(posix.dirname(path), from);
      const place = from.startsWith(".") ? file : `packages/${from.split("/").at(1)}`;
      return names
        .split(",")
        .map((name): [string, string] => [name.trim(), `${place}#${name.trim()}`]);
    }),
  );
}

/** The messages of one file. */
class Messages {
  readonly #source: Source;
  readonly #limits: ReadonlyMap<string, number>;
  readonly #makers: ReadonlyMap<string, Maker>;
  /** Those of this file. */
  readonly #own: ReadonlyMap<string, Maker>;
  /** A message is often a constant just above its error: the last one of that name counts. */
  readonly #constants = new Map<string, Syntax>();
  readonly #found: Message[] = [];
  readonly #imports: ReadonlyMap<string, string>;

  constructor(
    source: Source,
    limits: ReadonlyMap<string, number>,
    makers: ReadonlyMap<string, Maker>,
  ) {
    this.#source = source;
    this.#limits = limits;
    this.#makers = makers;
    this.#own = makersIn(source);
    this.#imports = importsOf(source);
  }

  find(): Message[] {
    const look = (node: object): void => this.#look(node as Syntax);
    new Visitor({
      VariableDeclarator: ({ id, init }) => {
        const { type, name } = id as unknown as Syntax;
        if (type === "Identifier" && init !== null) {
          this.#constants.set(String(name), init as unknown as Syntax);
        }
      },
      NewExpression: look,
      CallExpression: look,
    }).visit(this.#source.program as never);
    return this.#found;
  }

  /** Wherever a code of the catalogue is an argument and the one after it is a text. */
  #look(node: Syntax): void {
    const [first, second, ...rest] = node.arguments as Syntax[];
    const code = codeOf(first);
    if (code !== undefined) {
      if (second !== undefined) this.#note(code, this.#render(second));
      return;
    }
    const name = String((node.callee as Syntax).name ?? "");
    const maker = this.#own.get(name) ?? this.#makers.get(this.#imports.get(name) ?? "");
    if (maker === undefined || first === undefined) return;
    const given = [first, ...(second === undefined ? [] : [second]), ...rest];
    this.#note(maker.code, this.#made(maker, given));
  }

  #note(code: string, texts: readonly string[]): void {
    for (const text of texts) this.#found.push({ code, text: sampleOf(text) });
  }

  /** The message of a function, with the texts that this call gives it. */
  #made({ params, message, source }: Maker, given: readonly Syntax[]): string[] {
    const textsOf = (param: string): string[] | undefined => {
      const at = params.indexOf(param);
      return given[at] === undefined ? undefined : this.#render(given[at]);
    };
    if (message.type === "Identifier") return textsOf(String(message.name)) ?? [];
    const quasis = message.quasis as { value: { cooked: string } }[];
    const expressions = message.expressions as Syntax[];
    let texts = [quasis[0]!.value.cooked];
    for (const [i, expression] of expressions.entries()) {
      const own = expression.type === "Identifier" ? textsOf(String(expression.name)) : undefined;
      const parts = own?.length ? own : [nameOf(expression, source.text, this.#limits)];
      texts = texts.flatMap((text) =>
        parts.map((part) => text + part + quasis[i + 1]!.value.cooked),
      );
    }
    return texts;
  }

  /** Every text that an expression can have; none for a message that is made elsewhere. */
  #render(node: Syntax): string[] {
    const all = (part: unknown) => this.#render(part as Syntax);
    if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
    if (node.type === "ConditionalExpression") {
      return [...all(node.consequent), ...all(node.alternate)];
    }
    if (node.type === "BinaryExpression" && node.operator === "+") {
      return all(node.left).flatMap((left) => all(node.right).map((right) => left + right));
    }
    if (node.type === "Identifier") {
      const value = this.#constants.get(String(node.name));
      return value === undefined || value.type === "Identifier" ? [] : all(value);
    }
    return node.type === "TemplateLiteral" ? [this.#fill(node)] : [];
  }

  #fill(node: Syntax): string {
    const quasis = node.quasis as { value: { cooked: string } }[];
    const expressions = node.expressions as Syntax[];
    return quasis
      .map(({ value }, index) => {
        const expression = expressions[index];
        return (
          value.cooked +
          (expression === undefined ? "" : nameOf(expression, this.#source.text, this.#limits))
        );
      })
      .join("");
  }
}

/** The value of a limit, or the name of another expression in brackets. */
function nameOf({ start, end }: Syntax, text: string, limits: ReadonlyMap<string, number>): string {
  const whole = text.slice(start, end);
  const name = /(\w+)\W*$/.exec(whole)?.[1] ?? "value";
  // A limit within a call bounds a text, and is not what the message shows.
  const limit = whole.includes("(") ? undefined : limits.get(name);
  return String(limit ?? `‹${name.toLowerCase()}›`);
}
