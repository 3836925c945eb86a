/**
 * Keys of submitters. A key is bound to one `worker_id`, and to a tier if the operator names one:
 * its holder submits under that name alone, and sees only the jobs of that name. Keys are 256
 * random bits, so one round of SHA-256 is enough to keep them.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { SluiceError, type Store } from "sluice";
import { KEYS_MAX } from "./limits.ts";

export interface SubmitterKey {
  readonly id: string;
  readonly worker_id: string;
  /** Absent: the priority list decides. */
  readonly tier?: string | undefined;
  readonly created_at: string;
}

interface KeptKey extends SubmitterKey {
  readonly hash: string;
}

const PREFIX = "submitter-key/";
const TEXT = /^js_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

export class SubmitterKeys {
  readonly #store: Store<string>;
  readonly #keys = new Map<string, KeptKey>();
  /** Aborted when the key of this id is revoked: what was begun with it ends then. */
  readonly #endings = new Map<string, AbortController>();

  private constructor(store: Store<string>) {
    this.#store = store;
  }

  static async open(store: Store<string>): Promise<SubmitterKeys> {
    const keys = new SubmitterKeys(store);
    for await (const { value } of store.scan({ prefix: PREFIX })) {
      const key = JSON.parse(value) as KeptKey;
      keys.#keys.set(key.id, key);
    }
    return keys;
  }

  /** The answer's `key` is shown this once; only its hash is kept. */
  async create(
    worker_id: string,
    tier: string | undefined,
  ): Promise<SubmitterKey & { readonly key: string }> {
    if (this.#keys.size >= KEYS_MAX) {
      const message = `there are ${KEYS_MAX} keys already; revoke some first`;
      throw new SluiceError("CONFLICT", message);
    }
    const id = randomBytes(6).toString("hex");
    const secret = randomBytes(32).toString("base64url");
    const created_at = new Date().toISOString();
    const named = { id, worker_id, ...(tier === undefined ? {} : { tier }), created_at };
    const kept: KeptKey = { ...named, hash: digest(secret).toString("base64url") };
    await this.#store.put(PREFIX + id, JSON.stringify(kept));
    this.#keys.set(id, kept);
    return { ...named, key: `js_${id}_${secret}` };
  }

  async revoke(id: string): Promise<void> {
    if (!this.#keys.delete(id)) throw new SluiceError("NOT_FOUND", `there is no key ${id}`);
    this.#endings.get(id)?.abort();
    this.#endings.delete(id);
    await this.#store.delete(PREFIX + id);
  }

  get list(): SubmitterKey[] {
    return [...this.#keys.values()].map(({ hash: _, ...key }) => key);
  }

  find(id: string): SubmitterKey | undefined {
    return this.#keys.get(id);
  }

  /** Aborted when this key, which is one of ours, is revoked. */
  endingOf(id: string): AbortSignal {
    const ending = this.#endings.get(id) ?? new AbortController();
    this.#endings.set(id, ending);
    return ending.signal;
  }

  /** The record of this key; undefined if the key is unknown or its secret is wrong. */
  holderOf(text: string): SubmitterKey | undefined {
    const [, id = "", secret = ""] = TEXT.exec(text) ?? [];
    const kept = this.#keys.get(id);
    const hash = kept === undefined ? NO_HASH : Buffer.from(kept.hash, "base64url");
    return timingSafeEqual(hash, digest(secret)) ? kept : undefined;
  }
}

/** What an unknown key is compared with, so that it takes as long as a known one. */
const NO_HASH = randomBytes(32);

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
