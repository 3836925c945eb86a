import assert from "node:assert/strict";
import { Ajv, type ValidateFunction } from "ajv";
import type { Answer } from "./start.ts";

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema?: object }> }>;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** A server's own description, held against what it answers. */
export class Api {
  readonly #operations: { method: string; path: RegExp; operation: Operation }[] = [];
  readonly #ajv = new Ajv({ strict: false, logger: false });
  readonly #validators = new Map<object, ValidateFunction>();
  readonly exercised = new Set<string>();

  constructor({ paths }: Document) {
    for (const [path, methods] of Object.entries(paths)) {
      const pattern = new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`);
      for (const [method, operation] of Object.entries(methods)) {
        this.#operations.push({ method: method.toUpperCase(), path: pattern, operation });
      }
    }
  }

  get operationIds(): string[] {
    return this.#operations.map(({ operation }) => operation.operationId);
  }

  /** Holds that an answer is one that the description tells of. */
  check(line: string, { status, body }: Answer): void {
    const [method, address = ""] = line.split(" ");
    const path = address.split("?")[0]!;
    const found = this.#operations.find((one) => one.method === method && one.path.test(path));
    assert.ok(found, `${line} is not described`);
    const { operationId, responses } = found.operation;
    if (status < 400) this.exercised.add(operationId);
    const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`];
    assert.ok(response, `${line} answered ${status}, which is not described`);
    const schema = response.content?.["application/json"]?.schema;
    if (schema === undefined) return;
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(schema);
    this.#validators.set(schema, validate);
    const isValid = validate(body);
    const wrong = JSON.stringify(validate.errors?.[0]);
    assert.ok(isValid, `${line} (${status}): ${wrong} in ${JSON.stringify(body)}`);
  }
}
