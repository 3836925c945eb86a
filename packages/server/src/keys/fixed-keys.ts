import { SluiceError } from "@sluice/protocol";
import { ROOT_KEY_CHARS_MIN } from "../limits.ts";
import { EVERYTHING } from "./grant.ts";
import { type Principal, unauthorized } from "./principal.ts";
import { opens, type Sealed, seal } from "./secret.ts";

/** Keys that the operator brings along: each opens everything. */
export class FixedKeys {
  readonly #sealed: readonly Sealed[];

  /** `charsMin`: less for keys of old that others have to be able to use. */
  constructor(keys: readonly string[], charsMin = ROOT_KEY_CHARS_MIN) {
    for (const [i, key] of keys.entries()) {
      if (typeof key === "string" && key.length >= charsMin) continue;
      const message = `keys[${i}] must be a text of ${charsMin} characters at least`;
      throw new SluiceError("INVALID", message, { field: `keys[${i}]` });
    }
    this.#sealed = keys.map(seal);
  }

  /** Whether this is one of them. All are compared, so that the time taken tells nothing. */
  has(key: string | undefined): boolean {
    return this.#sealed.reduce((found, sealed) => opens(sealed, key ?? "") || found, false);
  }

  verify(key: string | undefined): Principal {
    if (key === undefined) throw unauthorized("this server needs a key");
    if (!this.has(key)) throw unauthorized("the key is not valid");
    return { id: "operator", grants: () => EVERYTHING, charge: () => {} };
  }
}
