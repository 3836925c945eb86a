/**
 * Who may announce in private mode: a file of keys, one a line, as `DIGEST NAME`. The digest is the
 * SHA-256 of the key in hex, so that reading the file is not enough to announce. Keys are long and
 * random, so a plain digest is enough. A line that is taken out is revoked by the next reload.
 */
import { hash, randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { PASSKEYS_BYTES_MAX } from "./limits.ts";

export interface Passkey {
  readonly name: string;
  announces: number;
  /** Milliseconds since 1970; 0 when it was never used. */
  lastUsedAt: number;
}

const KEY_BYTES = 16;
const LINE = /^([0-9a-f]{64})\s+(\S{1,64})$/;

export class Passkeys {
  #byDigest: ReadonlyMap<string, Passkey> = new Map();
  #isLoaded = false;

  get all(): Iterable<Passkey> {
    return this.#byDigest.values();
  }

  /** Answers what was refused, with its line; the figures of keys that stay are kept. */
  async load(file: string): Promise<string[]> {
    let text: string;
    try {
      const { size } = await stat(file);
      if (size > PASSKEYS_BYTES_MAX) throw new Error(`longer than ${PASSKEYS_BYTES_MAX} bytes`);
      text = await readFile(file, "latin1");
    } catch (error) {
      const message = `passkeys_file ${file} cannot be read: ${(error as Error).message}`;
      if (!this.#isLoaded) throw new Error(message);
      return [`${message}; the keys that were read before stay in use`];
    }
    const problems: string[] = [];
    const keys = new Map<string, Passkey>();
    for (const [i, raw] of text.split("\n").entries()) {
      const line = raw.trim();
      if (line === "" || line.startsWith("#")) continue;
      const [, digest, name] = LINE.exec(line) ?? [];
      if (digest === undefined || name === undefined) {
        problems.push(
          `${file}:${i + 1}: not a digest (SHA-256 in hex) and a name; the line is ignored`,
        );
      } else keys.set(digest, { announces: 0, lastUsedAt: 0, ...this.#byDigest.get(digest), name });
    }
    this.#byDigest = keys;
    this.#isLoaded = true;
    return problems;
  }

  find(key: string): Passkey | undefined {
    return this.#byDigest.get(digestOf(key));
  }
}

function digestOf(key: string): string {
  return hash("sha256", key);
}

/** A new key, and the line of the file that lets it in. */
export function makePasskey(name: string): { key: string; line: string } {
  const key = randomBytes(KEY_BYTES).toString("hex");
  return { key, line: `${digestOf(key)} ${name}` };
}
