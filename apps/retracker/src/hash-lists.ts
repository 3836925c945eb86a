/**
 * Info hashes that are served, are not, or stay here: from the settings and from files, one hash of
 * 40 hex digits a line, read again on a reload. If a file cannot be read, its previous hashes stay
 * in use.
 */
import { readFile, stat } from "node:fs/promises";
import { HASH_LIST_BYTES_MAX } from "./limits.ts";
import type { Settings } from "./settings/settings.ts";
import type { Refused } from "./wire/announce.ts";
import { fromHex } from "./wire/hex.ts";

const KINDS = ["allow", "deny", "never_forward"] as const;
type Kind = (typeof KINDS)[number];
const NO_HASHES: ReadonlySet<string> = new Set();
const PROBLEMS_SHOWN = 10;

export class HashLists {
  readonly #lists: Record<Kind, ReadonlySet<string>> = {
    allow: NO_HASHES,
    deny: NO_HASHES,
    never_forward: NO_HASHES,
  };
  readonly #ofFiles = new Map<Kind, readonly string[]>();
  /** An allow list that is empty allows nothing; none allows all. */
  #hasAllowList = false;

  /** Answers what was refused, with file and line; a file that was never read is an error. */
  async load(settings: Settings): Promise<string[]> {
    const problems: string[] = [];
    for (const kind of KINDS) {
      const file = settings[`${kind}_file`];
      if (file === "") this.#ofFiles.delete(kind);
      else problems.push(...(await this.#read(kind, file)));
      const inSettings = settings[kind].map((hash) => fromHex(hash.toLowerCase()));
      this.#lists[kind] = new Set([...inSettings, ...(this.#ofFiles.get(kind) ?? [])]);
    }
    this.#hasAllowList = settings.allow.length > 0 || settings.allow_file !== "";
    return problems;
  }

  judge(hash: string): Refused | undefined {
    const { allow, deny } = this.#lists;
    if (deny.size > 0 && deny.has(hash)) return { failure: "this info hash is denied here" };
    if (!this.#hasAllowList || allow.has(hash)) return undefined;
    return { failure: "this info hash is not among those allowed here" };
  }

  /** Whether the hash may be sent to forwarders. */
  isForwarded(hash: string): boolean {
    const { never_forward: never } = this.#lists;
    return never.size === 0 || !never.has(hash);
  }

  async #read(kind: Kind, file: string): Promise<string[]> {
    let text: string;
    try {
      const { size } = await stat(file);
      if (size > HASH_LIST_BYTES_MAX) throw new Error(`longer than ${HASH_LIST_BYTES_MAX} bytes`);
      text = await readFile(file, "latin1");
    } catch (error) {
      const message = `${kind}_file ${file} cannot be read: ${(error as Error).message}`;
      if (!this.#ofFiles.has(kind)) throw new Error(message);
      return [`${message}; the list that was read before stays in use`];
    }
    const { hashes, problems } = parseHashes(text, file);
    this.#ofFiles.set(kind, hashes);
    return problems;
  }
}

function parseHashes(text: string, file: string): { hashes: string[]; problems: string[] } {
  const hashes: string[] = [];
  const problems: string[] = [];
  for (const [i, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    if (/^[0-9a-f]{40}$/i.test(line)) hashes.push(fromHex(line.toLowerCase()));
    else if (problems.length < PROBLEMS_SHOWN) {
      problems.push(`${file}:${i + 1}: not an info hash of 40 hex digits; the line is ignored`);
    }
  }
  return { hashes, problems };
}
