/** The way to other trackers: forwarders, the queue, its workers, and all that they remember. */
import { randomBytes } from "node:crypto";
import type { Clock, Sluice } from "sluice";
import type { Settings } from "../settings/settings.ts";
import type { Announce } from "../wire/announce.ts";
import { AnnounceQueue, type AnnounceWorkers } from "./announce-queue.ts";
import { Announcer } from "./announcer.ts";
import { believe } from "./believe.ts";
import type { Forwarder } from "./forwarder.ts";
import type { ForwarderSpec } from "./forwarder-list.ts";
import { Forwarders, gateOf } from "./forwarders.ts";
import { announceOverHttp } from "./http-announce.ts";
import type { Outcome } from "./outcome.ts";
import { Refusals } from "./refusals.ts";
import { Registry } from "./registry.ts";
import { AnnounceRunner, type Sent } from "./run-announce.ts";
import { UdpAnnouncer } from "./udp-announce.ts";

export interface UpstreamOptions {
  readonly sluice: Sluice;
  readonly clock: Clock;
  readonly settings: Settings;
  /** Whether a hash may be sent to forwarders. */
  isForwarded(hash: string): boolean;
  localPeer(hash: string, endpoint: string): Announce | undefined;
  /** Any local peer of a hash that is wanted, to try a forwarder with. */
  anyPeer(isWanted: (hash: string) => boolean): Announce | undefined;
  onError(error: unknown): void;
}

export class Upstream {
  readonly forwarders: Forwarders;
  readonly registry: Registry;
  readonly queue: AnnounceQueue;
  readonly announcer: Announcer;
  readonly workers: AnnounceWorkers;
  /** Our own ports, by protocol: nothing is sent to them. */
  readonly httpPorts = new Set<number>();
  readonly udpPorts = new Set<number>();
  /** A request that carries this was sent by this retracker. */
  readonly instance = randomBytes(16).toString("hex");
  readonly #options: UpstreamOptions;
  readonly #refusals: Refusals;
  readonly #udp = new UdpAnnouncer();

  private constructor(options: UpstreamOptions, parts: Parts) {
    const { settings, clock, localPeer, onError } = options;
    this.#options = options;
    const { registry, forwarders, queue, refusals } = parts;
    this.registry = registry;
    this.forwarders = forwarders;
    this.queue = queue;
    this.#refusals = refusals;
    const mayLeave = (hash: string, name: string): boolean => this.#mayLeave(hash, name);
    const shared = { settings, clock, queue, registry, forwarders, localPeer, mayLeave };
    const { isForwarded } = options;
    this.announcer = new Announcer({ ...shared, isForwarded, onError });
    const send = this.#send.bind(this);
    const runner = new AnnounceRunner({ ...shared, refusals, announcer: this.announcer, send });
    this.workers = queue.work(settings, runner.run.bind(runner), onError);
  }

  static async open(options: UpstreamOptions): Promise<Upstream> {
    const { sluice, clock, settings } = options;
    const parts: Parts = {
      registry: await Registry.open(sluice),
      refusals: await Refusals.open(sluice),
      queue: await AnnounceQueue.open(sluice, settings),
      forwarders: await Forwarders.open({
        sluice,
        clock,
        onProbe: (forwarder) => upstream.#probe(forwarder),
        onStopped: (forwarder) =>
          void upstream.announcer.cancelAll(forwarder.name).catch(options.onError),
        onStarted: () => upstream.announcer.scheduleAll(),
      }),
    };
    // Its forwarders are there before it is, but call it only when it has replaced their list.
    const upstream = new Upstream(options, parts);
    await upstream.announcer.resume();
    return upstream;
  }

  /** Takes a new list without a restart. */
  async replace(specs: readonly ForwarderSpec[]): Promise<void> {
    await this.forwarders.replace(specs, this.#options.settings.groups);
    this.announcer.scheduleAll();
  }

  /** Switches a forwarder on by hand: what it refused for good is asked again. */
  async switchOn(forwarder: Forwarder): Promise<void> {
    await this.#refusals.forget(forwarder.name);
    await this.#options.sluice.gate(gateOf(forwarder.name)).clear();
    forwarder.suspendedUntil = 0;
    await this.forwarders.enable(forwarder);
  }

  async close(): Promise<void> {
    await this.announcer.close();
    this.forwarders.close();
    await this.workers.close();
    await this.#udp.close();
  }

  /** Whether a hash may be sent to a forwarder. Every path upstream checks this before it sends. */
  #mayLeave(hash: string, forwarder: string): boolean {
    return this.#options.isForwarded(hash) && !this.#refusals.has(hash, forwarder);
  }

  async #send({ forwarder, announce, signal, ...sent }: Sent): Promise<Outcome> {
    const { spec } = forwarder;
    const { instance } = this;
    const cache = this.registry.find(announce.hash)?.caches.get(spec.name);
    const trackerId = sent.trackerId ?? cache?.trackerId;
    const sending = { spec, announce, trackerId, instance, signal };
    const outcome = await (spec.protocol === "udp"
      ? this.#udp.announce({ ...sending, ownPorts: this.udpPorts })
      : announceOverHttp({ ...sending, ownPorts: this.httpPorts }));
    return outcome.kind === "answer" ? believe(outcome, spec) : outcome;
  }

  /** Without a peer that may be shown to it the next announce is the probe. */
  #probe(forwarder: Forwarder): void {
    const announce = this.#options.anyPeer((hash) => this.#mayLeave(hash, forwarder.name));
    if (announce === undefined) return;
    void this.announcer.probe(announce, forwarder).catch(this.#options.onError);
  }
}

interface Parts {
  readonly registry: Registry;
  readonly refusals: Refusals;
  readonly queue: AnnounceQueue;
  readonly forwarders: Forwarders;
}
