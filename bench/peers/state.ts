// What a long run has measured so far, on disk. An interrupted run continues where it stopped.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

export interface Measurements {
  get<T>(key: string): T | undefined;
  put(key: string, value: unknown): void;
}

// For runs that are short enough to be made again.
export const FORGETFUL: Measurements = { get: () => undefined, put: () => undefined };

const VERSION = 1;

interface Content {
  readonly version: number;
  // The machine, the programs and the sizes. Measurements of other ones are not mixed in.
  readonly conditions: string;
  readonly values: Record<string, unknown>;
}

export class StateFile implements Measurements {
  readonly #path: string;
  readonly #content: Content;

  constructor(path: string, conditions: string) {
    this.#path = path;
    const before = read(path);
    const isSame = before?.version === VERSION && before.conditions === conditions;
    this.#content = isSame ? before : { version: VERSION, conditions, values: {} };
  }

  get count(): number {
    return Object.keys(this.#content.values).length;
  }

  get<T>(key: string): T | undefined {
    return this.#content.values[key] as T | undefined;
  }

  put(key: string, value: unknown): void {
    this.#content.values[key] = value;
    const partial = `${this.#path}.partial`;
    writeFileSync(partial, JSON.stringify(this.#content));
    renameSync(partial, this.#path);
  }

  static forget(path: string): void {
    rmSync(path, { force: true });
  }
}

function read(path: string): Content | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // Not a state file of this bench: everything is measured again.
    return undefined;
  }
}
