import {
  type Broker,
  type Clock,
  type LimitSettings,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { CallerAudit } from "./audit/noted-calls.ts";
import {
  brokerReadiness,
  nodeReadiness,
  type OwnPart,
  type Readiness,
  type RecoveryProgress,
  recovering,
} from "./health.ts";
import { guard } from "./keys/guard.ts";
import { type CreatedKey, type KeyPeers, KeyRing } from "./keys/key-ring.ts";
import { ANYONE, type Principal } from "./keys/principal.ts";
import { REACH_AGAIN_MS } from "./limits.ts";
import { RequestBucket } from "./request-bucket.ts";

export interface BrokerAccessOptions {
  broker: Broker | Promise<Broker>;
  clock: Clock;
  recovery?: (() => RecoveryProgress | undefined) | undefined;
  limits?: LimitSettings | undefined;
  /** In a cluster: the nodes that have the same keys. */
  peers?: KeyPeers | undefined;
  /** In a cluster: what this node is ready for; absent: `broker` is all there is. */
  own?: (() => OwnPart) | undefined;
}

interface GuardedOptions {
  readonly broker?: Broker;
  /** Absent: what the caller does makes no entries in the audit log. */
  readonly audit?: CallerAudit;
}

const PASSING: readonly string[] = [
  ...["DISCONNECTED", "UNAVAILABLE", "TIMEOUT", "MOVED", "RECOVERING"],
];

/**
 * The way from the network to the broker, with the keys that open it.
 *
 *   recovering   the broker reads its log, or the keys cannot be read yet: everything is refused
 *                with RECOVERING
 *   open         callers are let through to what they may do
 *   failed       the broker could not be opened: everything is refused with CLOSED
 */
export class BrokerAccess {
  readonly hasKeys: boolean;
  readonly #clock: Clock;
  readonly #adds: RequestBucket | undefined;
  readonly #opened: Promise<void>;
  readonly #recovery: BrokerAccessOptions["recovery"];
  readonly #peers: KeyPeers | undefined;
  readonly #own: BrokerAccessOptions["own"];
  #broker: Broker | undefined;
  #ring: KeyRing | undefined;
  #failure: SluiceError | undefined;

  constructor(options: BrokerAccessOptions, hasKeys: boolean, rootKey: string | undefined) {
    this.hasKeys = hasKeys;
    this.#clock = options.clock;
    this.#recovery = options.recovery;
    this.#peers = options.peers;
    this.#own = options.own;
    const { addsPerSecond, requestsPerSecond } = options.limits ?? {};
    this.#adds = addsPerSecond === undefined ? undefined : new RequestBucket(addsPerSecond);
    this.#opened = this.#open(options.broker, { rootKey, requestsPerSecond });
    this.#opened.catch(() => {});
  }

  async #open(
    opening: Broker | Promise<Broker>,
    options: { rootKey: string | undefined; requestsPerSecond: number | undefined },
  ): Promise<void> {
    try {
      const broker = await opening;
      const peers = this.#peers;
      const open = (): Promise<KeyRing> =>
        KeyRing.open(broker, { ...options, peers, clock: this.#clock });
      if (this.hasKeys) this.#ring = await this.#untilReached(open);
      this.#broker = broker;
    } catch (error) {
      this.#failure = new SluiceError(
        "CLOSED",
        "the broker could not be opened; the server's log says why",
      );
      throw error;
    }
  }

  /** The broker, or one partition of it, as a caller may use it. */
  guarded(principal: Principal, { audit, broker = this.ready() }: GuardedOptions = {}): Broker {
    return guard(broker, principal, { adds: this.#adds, audit });
  }

  /** How long no adds are taken; 0: they are. */
  addsWaitMs(): number {
    return this.#adds?.waitMs() ?? 0;
  }

  ready(): Broker {
    if (this.#broker !== undefined) return this.#broker;
    if (this.#failure !== undefined) throw this.#failure;
    throw new SluiceError("RECOVERING", "the broker is still reading its log; try again shortly", {
      retryAfterMs: 1_000,
    });
  }

  async readiness(): Promise<Readiness> {
    if (this.#broker !== undefined) {
      return this.#own === undefined ? brokerReadiness(this.#broker) : nodeReadiness(this.#own());
    }
    if (this.#failure === undefined) return recovering(this.#recovery?.());
    return { isReady: false, text: this.#failure.message };
  }

  verify(key: string | undefined): Principal {
    if (!this.hasKeys) return ANYONE;
    this.ready();
    return this.#ring!.verify(key);
  }

  keys(): KeyRing {
    this.ready();
    if (this.#ring !== undefined) return this.#ring;
    throw new SluiceError("CONFLICT", "this server does not use API keys; start it with --keys");
  }

  /** The broker, once it is open. */
  async opened(): Promise<Broker> {
    await this.#opened;
    return this.ready();
  }

  /** The keys, once the broker is open. */
  async openedKeys(): Promise<KeyRing> {
    await this.#opened;
    return this.keys();
  }

  /** Made when there is no other key. */
  async firstKey(): Promise<CreatedKey | undefined> {
    await this.#opened;
    const ring = this.#ring;
    const peers = this.#peers;
    if (ring === undefined || !ring.isEmpty) return undefined;
    const isFirst = peers === undefined || (await this.#untilReached(() => peers.isFirst()));
    if (!isFirst) return undefined;
    const first = { name: "first", grants: [{ action: "admin", on: "*" }] };
    return this.#untilReached(() => ring.create(first, ANYONE));
  }

  /**
   * Retries for as long as there is no answer. In a cluster that is a partition which is
   * still being read, however long that takes: giving up would only start it again. A
   * broker that is closed meanwhile says so, and ends it.
   */
  async #untilReached<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!PASSING.includes(toSluiceError(error).code)) throw error;
      }
      await new Promise<void>((resolve) => {
        this.#clock.at(this.#clock.now() + REACH_AGAIN_MS, resolve).unref?.();
      });
    }
  }
}
