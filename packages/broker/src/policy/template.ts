import { invalid } from "@sluice/protocol";
import { TEMPLATE_CHARS_MAX } from "../limits.ts";

export type Headers = Readonly<Record<string, string>>;

/** A place of a template, and the text before it. */
interface Place {
  readonly before: string;
  /** The header whose value goes here; undefined: the name of the queue. */
  readonly header: string | undefined;
  readonly otherwise: string | undefined;
}

const A_TEMPLATE =
  "a template: text with places such as {headers.tenant}, {headers.tenant|none} or {queue}";

/** A text with places, taken apart once and put together for each job. */
export class Template {
  readonly #places: readonly Place[];
  readonly #after: string;

  private constructor(places: readonly Place[], after: string) {
    this.#places = places;
    this.#after = after;
  }

  static parse(field: string, value: unknown): Template {
    if (typeof value !== "string" || value === "") throw invalid(field, A_TEMPLATE, value);
    if (value.length > TEMPLATE_CHARS_MAX) {
      throw invalid(field, `at most ${TEMPLATE_CHARS_MAX} characters`, value.length);
    }
    const places: Place[] = [];
    let at = 0;
    for (const match of value.matchAll(/\{([^{}]*)\}/g)) {
      places.push(placeOf(field, value, value.slice(at, match.index), match[1]!));
      at = match.index + match[0].length;
    }
    return new Template(places, plainText(field, value, value.slice(at)));
  }

  /** Undefined when a header is missing, or empty, and the template says nothing else for it. */
  render(headers: Headers, queue: string): string | undefined {
    let text = "";
    for (const { before, header, otherwise } of this.#places) {
      let value: string | undefined = queue;
      if (header !== undefined) {
        // Only what the producer wrote: an object has a "constructor" too.
        value = Object.hasOwn(headers, header) ? headers[header] : undefined;
        if (value === undefined || value === "") value = otherwise;
        if (value === undefined) return undefined;
      }
      text += before + value;
    }
    return text + this.#after;
  }
}

function placeOf(field: string, template: string, before: string, inside: string): Place {
  const text = plainText(field, template, before);
  if (inside === "queue") return { before: text, header: undefined, otherwise: undefined };
  const [, header, otherwise] = /^headers\.([^|]+)(?:\|(.+))?$/.exec(inside) ?? [];
  if (header === undefined) throw invalid(field, A_TEMPLATE, template);
  return { before: text, header, otherwise };
}

/** A brace without its other half is a misspelt place. */
function plainText(field: string, template: string, text: string): string {
  if (/[{}]/.test(text)) throw invalid(field, A_TEMPLATE, template);
  return text;
}
