/**
 * The calls about gates. Jobs in every partition may name a gate, so all partitions get its limits.
 * A gate's home refuses for all. The home itself passes a cooldown on to the others.
 *
 * A partition that has limits for a gate lets nothing pass that the gate's home has not lent to it,
 * whatever the limits are; one that has none lets everything pass; and a home without limits lends
 * whatever it is asked for. So what counts is what the home has, and that is how it must be: new
 * limits are sent to all others before they are sent to the home, and removed limits to the home
 * before all others. Whatever is cut off in between, no partition has the gate open that its
 * home limits, and none waits for a home that lends nothing.
 */
import {
  type Broker,
  type GateInfo,
  type GateOptions,
  type GateSettings,
  type GatesOptions,
  type GatesPage,
  PAGE_MAX,
  type PageStart,
  type Why,
  type WhyGated,
  walkPages,
  whyText,
} from "@sluice/protocol";
import { homeOfGate } from "../hash.ts";
import { pageOfGates } from "./gate-pages.ts";
import { mergeGates } from "./merge-gates.ts";
import { missingOf, type PartitionCalls } from "./partition-calls.ts";

/** Why a job waits for a gate. */
type Gated = WhyGated & Pick<Why, "asOf" | "text">;

export class ClusterGates {
  readonly #calls: PartitionCalls;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  async setGate(key: string, config: GateOptions): Promise<GateInfo> {
    const isNew = (await this.#atHome(key)) === undefined;
    if (isNew) await this.#announce(key, config);
    await this.#calls.ask(this.#home(key), (port) =>
      this.#calls.again(() => port.setGate(key, config)),
    );
    await this.#copy(key, isNew ? await this.#differing(key) : this.#others(key));
    return this.gate(key);
  }

  async deleteGate(key: string): Promise<void> {
    await this.#calls.ask(this.#home(key), (port) => this.#calls.again(() => port.deleteGate(key)));
    await this.#copy(key, this.#others(key));
  }

  /** The others say who waits and runs; what the gate is, its home alone can tell. */
  async gate(key: string): Promise<GateInfo> {
    const home = this.#home(key);
    const look = await this.#calls.look(this.#inOrder(key), [], (port) => port.gate(key));
    const infos = new Map(look.seen.map(({ partition, value }) => [partition, value]));
    const own = infos.get(home) ?? (await this.#calls.ask(home, (port) => port.gate(key)));
    infos.delete(home);
    const missing = look.missing.filter((partition) => partition !== home);
    return { ...mergeGates([own, ...infos.values()]), ...missingOf({ missing }) };
  }

  /** The limits that a gate's home has for exactly this key. */
  async #atHome(key: string): Promise<GateSettings | undefined> {
    return ownConfig(await this.#calls.ask(this.#home(key), (port) => port.gate(key)));
  }

  /**
   * Sends new limits to all but the home. If that fails for one, those that have the limits are set
   * back to none, as the home will say.
   */
  async #announce(key: string, config: GateOptions): Promise<void> {
    const answers = await this.#calls.every(this.#others(key), (port) =>
      this.#calls.again(() => port.setGate(key, config)),
    );
    const refused = answers.filter(({ error }) => error !== undefined);
    if (refused.length === 0) return;
    const told = answers.filter(({ error }) => error === undefined);
    await this.#copy(
      key,
      told.map(({ partition }) => partition),
    ).catch(() => {});
    // That the limits are invalid says more than that a partition was not reached.
    throw (refused.find(({ error }) => error?.code === "INVALID") ?? refused[0]!).error!;
  }

  /** Partitions that another caller changed while the home was changed. */
  async #differing(key: string): Promise<number[]> {
    const [home, ...others] = await this.#calls.known(this.#inOrder(key), [], (port) =>
      port.gate(key),
    );
    const wanted = JSON.stringify(ownConfig(home!.value));
    const differ = others.filter(({ value }) => JSON.stringify(ownConfig(value)) !== wanted);
    return differ.map(({ partition }) => partition);
  }

  /**
   * Tells partitions what a gate's home says of it. Another caller may do the same at the same
   * time, and be overtaken: so the home is asked again afterwards, until its answer is the same.
   */
  async #copy(key: string, partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return;
    let config = await this.#atHome(key);
    for (;;) {
      const told = config;
      const tell = async (port: Broker): Promise<void> => {
        if (told === undefined) await port.deleteGate(key);
        else await port.setGate(key, told);
      };
      const catchUp = (partition: number): Promise<void> => this.#copy(key, [partition]);
      await this.#calls.tell(partitions, tell, [[`gate ${key}`, catchUp]]);
      config = await this.#atHome(key);
      if (JSON.stringify(config) === JSON.stringify(told)) return;
    }
  }

  /**
   * Of a gate that is borrowed only its home knows when it opens. While the home cannot be reached
   * the answer stays without a time.
   */
  async why(why: Gated): Promise<Gated> {
    const home = await this.#calls.glance(this.#home(why.gate), (port) => port.gate(why.gate));
    if (home?.opensAt === undefined) return why;
    const known = { ...why, until: home.opensAt };
    return { ...known, text: whyText(known, why.asOf) };
  }

  /** Each partition tells all that it has: one gate may be known in several. */
  async gates(options: GatesOptions): Promise<GatesPage> {
    const { limit: _, cursor: __, ...filter } = options;
    const look = await this.#calls.look(this.#calls.all, ["QUEUE_NOT_FOUND"], (port) =>
      allGates(port, filter),
    );
    const byKey = new Map<string, { partition: number; info: GateInfo }[]>();
    for (const { partition, value } of look.seen) {
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
    return { ...pageOfGates(merged, options), ...missingOf(look) };
  }

  #home(key: string): number {
    return homeOfGate(String(key), this.#calls.directory.homes);
  }

  #others(key: string): number[] {
    const home = this.#home(key);
    return this.#calls.all.filter((partition) => partition !== home);
  }

  #inOrder(key: string): number[] {
    return [this.#home(key), ...this.#others(key)];
  }
}

function allGates(port: Broker, filter: GatesOptions): Promise<GateInfo[]> {
  const ask = (from: PageStart) => port.gates({ ...filter, limit: PAGE_MAX, ...from });
  return Array.fromAsync(walkPages(ask));
}

/** What is set for this very key, and not for a pattern that it matches. */
function ownConfig({ config, pattern }: GateInfo): GateSettings | undefined {
  return pattern === undefined ? config : undefined;
}
