/**
 * The text of a key: `sk_`, twelve digits that name it, and 256 bits that cannot be guessed. Only a
 * salted hash of the latter is kept. They are random, so one round of SHA-256 is enough: there is
 * no dictionary to try.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const ID_BYTES = 6;
const SECRET_BYTES = 32;
const SALT_BYTES = 16;
const TEXT = /^sk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

export interface Sealed {
  salt: string;
  hash: string;
}

export interface NewSecret extends Sealed {
  id: string;
  /** What its holder shows; it cannot be had again. */
  text: string;
}

export function newSecret(): NewSecret {
  const id = randomBytes(ID_BYTES).toString("hex");
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  return { id, text: `sk_${id}_${secret}`, ...seal(secret) };
}

/** A secret that is not ours, such as one that the operator brings along. */
export function seal(secret: string): Sealed {
  const salt = randomBytes(SALT_BYTES).toString("base64url");
  return { salt, hash: digest(salt, secret).toString("base64url") };
}

export function parseSecret(text: string): { id: string; secret: string } | undefined {
  const [, id, secret] = TEXT.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** What an unknown key is compared with, so that it takes as long as a known one. */
const NO_KEY = seal(randomBytes(SECRET_BYTES).toString("base64url"));

export function opens(sealed: Sealed | undefined, secret: string): boolean {
  const { salt, hash } = sealed ?? NO_KEY;
  const isSame = timingSafeEqual(digest(salt, secret), Buffer.from(hash, "base64url"));
  return isSame && sealed !== undefined;
}

function digest(salt: string, secret: string): Buffer {
  return createHash("sha256").update(salt).update("\0").update(secret).digest();
}
