import type { Broker, Duration, GateInfo, GateOptions } from "@sluice/protocol";
import {
  type CallOptions,
  type OperationOptions,
  parseCall,
  parseOperation,
} from "./parse-call.ts";

/** A named limit; its key may be a pattern such as `indexer:*` where limits are set. */
export class Gate {
  readonly key: string;
  readonly #port: Broker;

  /** Users call `sluice.gate`. @internal */
  constructor(port: Broker, key: string) {
    this.#port = port;
    this.key = key;
  }

  /** Replaces its limits; the levels stay. */
  async set(options: GateOptions, call?: CallOptions): Promise<GateInfo> {
    return this.#port.setGate(this.key, options, parseCall("set", call));
  }

  /** Shuts it for a while. A cooldown that lasts longer already stays as it is. */
  async cooldown(duration: Duration, reason?: string, options?: CallOptions): Promise<void> {
    await this.#port.cooldown(this.key, duration, reason, parseCall("cooldown", options));
  }

  /** Ends its cooldown. */
  async clear(options?: CallOptions): Promise<void> {
    await this.#port.clearCooldown(this.key, parseCall("clear", options));
  }

  /** Tells its ladder of a success or a failure. */
  async report(ok: boolean, options?: OperationOptions): Promise<void> {
    await this.#port.reportGate(this.key, ok, parseOperation("report", options));
  }

  /**
   * Corrects a cost afterwards: so much more was used of its rate and windows than was taken, or,
   * below zero, so much less of its rate.
   */
  async charge(cost: number, options?: OperationOptions): Promise<void> {
    await this.#port.chargeGate(this.key, cost, parseOperation("charge", options));
  }

  async info(options?: CallOptions): Promise<GateInfo> {
    return this.#port.gate(this.key, parseCall("info", options));
  }

  /** Removes its limits. Jobs that waited for them continue. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#port.deleteGate(this.key, parseCall("delete", options));
  }
}
