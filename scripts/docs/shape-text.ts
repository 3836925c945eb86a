// Shapes as a reader of TypeScript knows them. Those that have names are written out once.

import { GATE_SCHEMA, POLICY, QUEUE_SCHEMA, type Schema } from "@sluice/protocol";
import * as shapes from "@sluice/protocol/shapes";

const WORDS: Readonly<Record<string, string>> = { integer: "number", null: "null" };

const NAMES = new Map<unknown, string>([
  [QUEUE_SCHEMA, "QueueOptions"],
  [GATE_SCHEMA, "GateOptions"],
  [POLICY.schema, "QueuePolicy"],
  [shapes.JOB_STATE, "JobState"],
  ...Object.entries(shapes)
    .filter(([, value]) => typeof value === "object" && "properties" in value)
    .map(([name, value]): [unknown, string] => [value, typeName(name)]),
]);

/** `HISTORY_ENTRY` as `HistoryEntry`. */
function typeName(name: string): string {
  return name.replace(/_?([A-Z])([A-Z]*)/g, (_, first, rest) => first + rest.toLowerCase());
}

export class ShapeTexts {
  readonly #seen = new Set<Schema>();

  isNamed(schema: Schema): boolean {
    return NAMES.has(schema);
  }

  /** A shape on one line; one with a name by it. */
  of(schema: Schema): string {
    const name = NAMES.get(schema);
    if (name === undefined) return this.#plain(schema);
    this.#seen.add(schema);
    return name;
  }

  #plain({ type, items, properties, required, anyOf, enum: choices, ...rest }: Schema): string {
    if (Array.isArray(choices)) return choices.map((one) => JSON.stringify(one)).join(" | ");
    if (Array.isArray(anyOf)) return anyOf.map((one) => this.of(one)).join(" | ");
    if ("const" in rest) return JSON.stringify(rest.const);
    if (Array.isArray(type)) return type.map((one) => WORDS[one] ?? one).join(" | ");
    if (type === "array") return listText(this.of(items as Schema));
    if (properties !== undefined) {
      const fields = this.#fields(properties as Record<string, Schema>, required);
      return `{ ${fields.map(({ text }) => text).join("; ")} }`;
    }
    return WORDS[String(type)] ?? String(type ?? "unknown");
  }

  #fields(properties: Readonly<Record<string, Schema>>, required: unknown): Field[] {
    const needed = Array.isArray(required) ? required : [];
    return Object.entries(properties).map(([name, schema]) => ({
      text: `${name}${needed.includes(name) ? "" : "?"}: ${this.of(schema)}`,
      says: typeof schema.description === "string" ? schema.description : "",
    }));
  }

  /** All shapes that were named, and those that these name. */
  named(): string {
    const texts = new Map<Schema, string>();
    for (;;) {
      const next = [...this.#seen].find((schema) => !texts.has(schema));
      if (next === undefined) break;
      texts.set(next, this.#section(next));
    }
    return [...texts.values()].sort().join("\n");
  }

  #section(schema: Schema): string {
    const { properties, required } = schema;
    const head = `### ${NAMES.get(schema)}\n\n\`\`\`ts\n`;
    if (properties === undefined) return `${head}${this.#plain(schema)}\n\`\`\`\n`;
    const fields = this.#fields(properties as Record<string, Schema>, required);
    const lines = fields.map(({ text, says }) => `  ${text};${says === "" ? "" : ` // ${says}`}`);
    return `${head}{\n${lines.join("\n")}\n}\n\`\`\`\n`;
  }
}

interface Field {
  readonly text: string;
  readonly says: string;
}

function listText(item: string): string {
  return /[ |]/.test(item) ? `(${item})[]` : `${item}[]`;
}
