/**
 * Keys are the same on every node. A node that writes them bumps an entry of the registry. All
 * others read them again and say up to which bump they have, in the entry by which they live. A
 * call that makes or revokes a key is answered when all live nodes have said so, or after a while.
 * In that case the key is made or revoked all the same, and an error names the nodes that have not
 * said so yet to the operator.
 */
import { type Clock, SluiceError } from "@sluice/protocol";
import type { KeyPeers } from "@sluice/server";
import { KEYS_MS_MAX, KEYS_RETRY_MS } from "../limits.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict, within } from "../within.ts";

export const KEYS_KEY = "keys";
const FIRST = "first-key";

export interface ClusterKeysOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly node: string;
  /** Up to which bump each living node has read. */
  readonly readBy: () => readonly { readonly id: string; readonly keysRead: number }[];
  /** Calls back when that may have changed. */
  readonly onChange: (listener: () => void) => () => void;
  /** Says at once what this node has read. */
  readonly tell: () => void;
  /** Some nodes have not said in time that they know of a change. */
  readonly onError: (error: SluiceError) => void;
}

export class ClusterKeys implements KeyPeers {
  readonly #options: ClusterKeysOptions;
  #reload: (() => Promise<void>) | undefined;
  #heard = 0;
  #read = 0;
  #isReading = false;

  constructor(options: ClusterKeysOptions) {
    this.#options = options;
  }

  /** The last bump whose keys this node has; without keys it has them all. */
  get read(): number {
    return this.#reload === undefined ? Number.MAX_SAFE_INTEGER : this.#read;
  }

  onChange(reload: () => Promise<void>): void {
    this.#reload = reload;
    // What was said before there was anybody to listen may have been missed.
    void this.#readOn(true);
  }

  async isFirst(): Promise<boolean> {
    const { registry, node } = this.#options;
    try {
      await registry.create(FIRST, node);
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // It may have been this node, which then could not write the key, or did not hear the answer.
      return (await registry.get(FIRST))?.value === node;
    }
  }

  async changed(): Promise<void> {
    const { clock, onError } = this.#options;
    const bump = await this.#bump();
    this.hear(bump);
    try {
      await within(clock, KEYS_MS_MAX, this.#readByAll(bump));
    } catch {
      const missing = this.#missing(bump);
      if (missing.length === 0) return;
      const message = `keys have changed; ${missing.join(", ")} may still accept the old keys`;
      onError(new SluiceError("TIMEOUT", `${message}: no answer within ${KEYS_MS_MAX} ms`));
    }
  }

  /** The nodes that have not read up to this bump. */
  #missing(bump: number): string[] {
    const missing = this.#options.readBy().filter(({ keysRead }) => keysRead < bump);
    return missing.map(({ id }) => id);
  }

  /** Keys were written, here or elsewhere. */
  hear(bump: number): void {
    if (bump <= this.#heard) return;
    this.#heard = bump;
    void this.#readOn(false);
  }

  async #readOn(isFirst: boolean): Promise<void> {
    if (this.#isReading || this.#reload === undefined) return;
    this.#isReading = true;
    for (let must = isFirst; must || this.#read < this.#heard; must = false) {
      const heard = this.#heard;
      try {
        await this.#reload();
      } catch {
        // The partition of the keys is away for the moment.
        await new Promise<void>((resolve) => {
          const { clock } = this.#options;
          clock.at(clock.now() + KEYS_RETRY_MS, resolve).unref?.();
        });
        continue;
      }
      this.#read = heard;
      this.#options.tell();
    }
    this.#isReading = false;
  }

  async #bump(): Promise<number> {
    const { registry, node } = this.#options;
    for (;;) {
      const found = await registry.get(KEYS_KEY);
      try {
        if (found === undefined) return await registry.create(KEYS_KEY, node);
        return await registry.update(KEYS_KEY, node, found.revision);
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }

  async #readByAll(bump: number): Promise<void> {
    const isDone = (): boolean => this.#missing(bump).length === 0;
    if (isDone()) return;
    await new Promise<void>((resolve) => {
      const stop = this.#options.onChange(() => {
        if (!isDone()) return;
        stop();
        resolve();
      });
    });
  }
}
