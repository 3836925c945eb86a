import type { Broker, GateInfo } from "@sluice/protocol";
import { typedAs } from "./as-typed.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { type GateOptions, parseGate } from "./parse-gate.ts";

/** A named limit; its key may be a pattern such as `indexer:*` where limits are set. */
export class Gate {
  readonly key: string;
  readonly #port: Broker;

  constructor(port: Broker, key: string) {
    this.#port = port;
    this.key = key;
  }

  /** Replaces its limits; the levels stay. */
  async set(options: GateOptions): Promise<GateInfo> {
    const config = parseGate(options);
    return typedAs(this.#port.setGate(this.key, config), { root: "gate", options });
  }

  /** Shuts it for a while. A cooldown that lasts longer already stays as it is. */
  async cooldown(duration: Duration, reason?: string): Promise<void> {
    await this.#port.cooldown(this.key, parseDuration("gate.cooldown", duration), reason);
  }

  /** Ends its cooldown. */
  async clear(): Promise<void> {
    await this.#port.clearCooldown(this.key);
  }

  /** Tells its ladder of a success or a failure. */
  async report(ok: boolean): Promise<void> {
    await this.#port.reportGate(this.key, ok);
  }

  async info(): Promise<GateInfo> {
    return this.#port.gate(this.key);
  }

  /** Removes its limits: what waited for them goes on. */
  async delete(): Promise<void> {
    await this.#port.deleteGate(this.key);
  }
}
