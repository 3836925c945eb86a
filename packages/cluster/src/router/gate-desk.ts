/**
 * The calls about gates. Jobs in every partition may name a gate, so its limits are told to all;
 * its home hears them first and refuses for all. Of a cooldown the home tells the others itself.
 */
import type { Broker, GateConfig, GateInfo, GatesOptions, GatesPage } from "@sluice/protocol";
import { homeOfGate } from "../hash.ts";
import { pageOfGates } from "./gate-pages.ts";
import { PAGE_MAX } from "./limits.ts";
import { mergeGates } from "./merge-gates.ts";
import type { Reach } from "./reach.ts";

/** A job that a gate keeps. */
interface Gated {
  readonly gate: string;
  readonly until?: number | undefined;
}

export class GateDesk {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  async setGate(key: string, config: GateConfig): Promise<GateInfo> {
    await this.#homeFirst(key, (port) => port.setGate(key, config));
    return this.gate(key);
  }

  async deleteGate(key: string): Promise<void> {
    await this.#reach.ask(this.#home(key), (port) => port.deleteGate(key));
    await this.#reach.every(this.#others(key), (port) => port.deleteGate(key));
  }

  async gate(key: string): Promise<GateInfo> {
    const known = await this.#reach.known(this.#inOrder(key), [], (port) => port.gate(key));
    return mergeGates(known.map(({ value }) => value));
  }

  /** When a gate opens its home knows, and no partition that borrows from it. */
  async why<W extends Gated>(why: W): Promise<W> {
    const { opensAt } = await this.#reach.ask(this.#home(why.gate), (port) => port.gate(why.gate));
    return opensAt === undefined ? why : { ...why, until: opensAt };
  }

  /** Each partition tells all that it has: one gate may be known in several. */
  async gates(options: GatesOptions): Promise<GatesPage> {
    const { limit: _, cursor: __, ...filter } = options;
    const answers = await this.#reach.known(this.#reach.all, ["QUEUE_NOT_FOUND"], (port) =>
      allGates(port, filter),
    );
    const byKey = new Map<string, { partition: number; info: GateInfo }[]>();
    for (const { partition, value } of answers) {
      for (const info of value) {
        const found = byKey.get(info.key);
        if (found === undefined) byKey.set(info.key, [{ partition, info }]);
        else found.push({ partition, info });
      }
    }
    const merged = [...byKey].map(([key, found]) => {
      const home = this.#home(key);
      found.sort((a, b) => Number(b.partition === home) - Number(a.partition === home));
      return mergeGates(found.map(({ info }) => info));
    });
    return pageOfGates(merged, options);
  }

  async cooldown(key: string, ms: number, reason: string | undefined): Promise<void> {
    await this.#reach.ask(this.#home(key), (port) => port.cooldown(key, ms, reason));
  }

  async clearCooldown(key: string): Promise<void> {
    await this.#reach.ask(this.#home(key), (port) => port.clearCooldown(key));
  }

  async reportGate(key: string, ok: boolean): Promise<void> {
    await this.#reach.port(this.#home(key)).reportGate(key, ok);
  }

  async #homeFirst(key: string, call: (port: Broker) => Promise<unknown>): Promise<void> {
    await this.#reach.ask(this.#home(key), call);
    const others = this.#others(key);
    if (others.length > 0) await this.#reach.known(others, [], call);
  }

  #home(key: string): number {
    return homeOfGate(String(key), this.#reach.directory.partitions);
  }

  #others(key: string): number[] {
    const home = this.#home(key);
    return this.#reach.all.filter((partition) => partition !== home);
  }

  #inOrder(key: string): number[] {
    return [this.#home(key), ...this.#others(key)];
  }
}

async function allGates(port: Broker, filter: GatesOptions): Promise<GateInfo[]> {
  const gates: GateInfo[] = [];
  let cursor: string | undefined;
  do {
    const from: GatesOptions = cursor === undefined ? {} : { cursor };
    const page = await port.gates({ ...filter, limit: PAGE_MAX, ...from });
    gates.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return gates;
}
