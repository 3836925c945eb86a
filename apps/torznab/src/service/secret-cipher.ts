/**
 * Keeps secrets sealed: the keys of indexers at rest, and the links in our feeds, which hold them.
 * The key of the seal lies in a file of its own, readable by its owner alone, so that a copy of the
 * data without it gives nothing away.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { SluiceError } from "sluice";

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class SecretCipher {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Reads the key file, or makes it when there is none. */
  static async open(path: string): Promise<SecretCipher> {
    try {
      const file = await open(path, "wx", 0o600);
      try {
        await file.writeFile(randomBytes(KEY_BYTES));
        await file.sync();
      } finally {
        await file.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const key = await readFile(path);
    if (key.length === KEY_BYTES) return new SecretCipher(key);
    const message = `the key file ${path} must hold ${KEY_BYTES} bytes, it holds ${key.length}`;
    throw new SluiceError("INVALID", message, { field: "keyFile", value: path });
  }

  /** A purpose belongs to the seal: what was sealed for one cannot be opened for another. */
  seal(purpose: string, text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** Undefined for what this cipher has not sealed. */
  unseal(purpose: string, token: string): string | undefined {
    const bytes = Buffer.from(token, "base64url");
    if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, iv);
    decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    } catch {
      return undefined;
    }
  }
}
