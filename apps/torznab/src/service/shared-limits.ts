/** Limits that the indexers of one host share, kept in a store. */
import { type Sluice, SluiceError, type Store } from "sluice";
import { HOSTS_MAX } from "../limits.ts";
import { type HostLimits, hostGateOptions, hostKey } from "../scheduler/limits-of.ts";
import type { HostInput } from "../settings/host-input.ts";

export interface HostRecord extends HostInput {
  /** Where it was described: what the file says is not changed by the API. */
  readonly source: "api" | "settings";
}

export class SharedLimits {
  readonly #sluice: Sluice;
  readonly #store: Store<HostRecord>;
  readonly #records = new Map<string, HostRecord>();

  private constructor(sluice: Sluice) {
    this.#sluice = sluice;
    this.#store = sluice.store<HostRecord>("torznab-hosts");
  }

  static async open(sluice: Sluice): Promise<SharedLimits> {
    const hosts = new SharedLimits(sluice);
    for await (const { key, value } of hosts.#store.scan()) hosts.#records.set(key, value);
    return hosts;
  }

  get all(): readonly HostRecord[] {
    return [...this.#records.values()];
  }

  /** As the scheduler needs it; undefined: its indexers share nothing. */
  limitsOf(host: string): (HostLimits & { id: string }) | undefined {
    const record = this.#records.get(host);
    return record === undefined ? undefined : { id: host, ...record.limits };
  }

  get(host: string): HostRecord {
    const record = this.#records.get(host);
    if (record !== undefined) return record;
    const details = { field: "host", value: host.slice(0, 100) };
    const message = `no limits are set for host ${details.value}`;
    throw new SluiceError("NOT_FOUND", message, details);
  }

  /** The hosts of the settings file replace those of its earlier versions. */
  async settle(inputs: readonly HostInput[]): Promise<void> {
    const named = new Set(inputs.map(({ host }) => host));
    for (const { host, source } of this.all) {
      if (source === "settings" && !named.has(host)) await this.#remove(host);
    }
    for (const input of inputs) await this.#put({ ...input, source: "settings" });
    for (const { host, limits } of this.all) await this.#setGate(host, limits);
  }

  /** New limits apply from now on; what was used of the old ones stays used. */
  async set(input: HostInput): Promise<HostRecord> {
    refuseOfSettings(this.#records.get(input.host));
    if (!this.#records.has(input.host) && this.#records.size >= HOSTS_MAX) {
      throw new SluiceError("QUEUE_FULL", `limits of ${HOSTS_MAX} hosts are set already`);
    }
    const record = await this.#put({ ...input, source: "api" });
    await this.#setGate(record.host, record.limits);
    return record;
  }

  async remove(host: string): Promise<void> {
    refuseOfSettings(this.get(host));
    await this.#remove(host);
  }

  async #remove(host: string): Promise<void> {
    await this.#store.delete(host);
    this.#records.delete(host);
    // Requests that wait for it pass now.
    await this.#sluice.gate(hostKey(host)).delete();
  }

  async #setGate(host: string, limits: HostLimits): Promise<void> {
    await this.#sluice.gate(hostKey(host)).set(hostGateOptions(limits));
  }

  async #put(record: HostRecord): Promise<HostRecord> {
    await this.#store.put(record.host, record);
    this.#records.set(record.host, record);
    return record;
  }
}

/** The next start would bring back what the file says. */
function refuseOfSettings(record: HostRecord | undefined): void {
  if (record?.source !== "settings") return;
  const { host } = record;
  const message = `the limits of ${host} are defined in the settings file; change them there`;
  throw new SluiceError("CONFLICT", message, { field: "host", value: host });
}
