/**
 * The ids that submitters see. Sluice counts its jobs, so its own ids can be guessed. Outside the
 * server a job has another name: its id, filled up with zeros to one block and encrypted with a
 * key that only this server has. The zeros show that a name is one of ours; nothing is stored.
 */
import {
  type Cipheriv,
  createCipheriv,
  createDecipheriv,
  type Decipheriv,
  randomBytes,
} from "node:crypto";
import type { Store } from "sluice";

const CIPHER = "aes-128-ecb";
const BLOCK_BYTES = 16;
const KEY_NAME = "job-ids";

export class JobIds {
  // Block by block, so that one of each serves all ids: a new one for each cost 3 µs.
  readonly #cipher: Cipheriv;
  readonly #decipher: Decipheriv;

  constructor(key: Buffer) {
    this.#cipher = createCipheriv(CIPHER, key, null).setAutoPadding(false);
    this.#decipher = createDecipheriv(CIPHER, key, null).setAutoPadding(false);
  }

  /** With the key that the store keeps, or a new one. */
  static async open(store: Store<string>): Promise<JobIds> {
    const kept = await store.get(KEY_NAME);
    if (kept !== undefined) return new JobIds(Buffer.from(kept, "base64url"));
    const key = randomBytes(BLOCK_BYTES);
    await store.put(KEY_NAME, key.toString("base64url"));
    return new JobIds(key);
  }

  uidOf(id: string): string {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.write(id, "latin1");
    return this.#cipher.update(block, undefined, "hex");
  }

  /** Undefined if the text is not an id that this server made. */
  idOf(uid: string): string | undefined {
    if (!/^[0-9a-f]{32}$/.test(uid)) return undefined;
    const block = this.#decipher.update(uid, "hex");
    const [, id] = /^([0-9a-z]{1,12})\0+$/.exec(block.toString("latin1")) ?? [];
    return id;
  }
}
