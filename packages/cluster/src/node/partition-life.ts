/**
 * One partition as this node has it. It is in one of these states.
 *
 *   away      it is not ours, or it is and waits for the next try to open it
 *   standby   another node has it: we read its log along, for the case that it dies
 *   warming   another node wants to hand it to us: we read its log ahead
 *   opening   we have claimed it: its log is fenced and read
 *   serving   calls are answered
 *   resting   we cannot prove that it is still ours: no call is served, nothing is forgotten.
 *             With a proof it continues (serving), else another node gets it (away)
 *   leaving   we hand it over: streams are cut, what was answered is made durable
 *
 * A claim is a compare-and-set of the owner's entry, made right before every opening, so that two
 * nodes that open in turns come to an end. A node that hands a partition over has made it for us.
 * Safety does not rest on it: opening fences.
 */
import type { Anchor } from "@sluice/log";
import { type Clock, type SluiceError, toSluiceError } from "@sluice/protocol";
import {
  ANCHOR_MS,
  CLOSE_MS_MAX,
  GIVEN_UP_MS,
  REGISTRY_MS_MAX,
  RETRY_MS_MAX,
  RETRY_MS_MIN,
  UNREADABLE_RETRY_MS_MAX,
  WARM_MS_MAX,
} from "../limits.ts";
import type { Registry } from "../registry/registry.ts";
import { isConflict, within } from "../within.ts";
import {
  ANCHOR_PREFIX,
  isSame,
  type NodeName,
  OWNER_PREFIX,
  type OwnerEntry,
  parseAnchor,
  parseOwnerEntry,
} from "./entries.ts";

/** What opens, serves and closes partitions. */
export interface PartitionHost {
  /** Reads the log ahead without fencing anybody, so that `open` has less to do. */
  warm(partition: number): Promise<void>;
  /** Reads the log along until it is opened; rejects when that fails. Absent: it cannot. */
  standBy?(partition: number): Promise<void>;
  /** What was read ahead is not needed after all. */
  cool(partition: number): void;
  /** Fences its previous owner, reads the log, and serves. */
  open(partition: number, known: KnownLog): Promise<void>;
  /** Cuts its streams. No call is served until `resume`. */
  rest(partition: number): void;
  resume(partition: number): void;
  /** Cuts its streams, makes durable what was answered and lets go of the log. */
  close(partition: number): Promise<void>;
  /** The newest that its log has confirmed, of a log that was closed too; none: it keeps none. */
  anchorOf(partition: number): Anchor | undefined;
  /** Writes to the log: answers when it is still ours. */
  prove(partition: number): Promise<void>;
}

/** What the registry says of a log. */
export interface KnownLog {
  /** It was opened once, so it must be there, and is not made. */
  readonly hasLog: boolean;
  /** What an owner has noted last: a log that lacks it is damaged. */
  readonly anchor: Anchor | undefined;
}

export type PartitionState =
  | "away"
  | "standby"
  | "warming"
  | "opening"
  | "serving"
  | "resting"
  | "leaving";

export interface PartitionLifeOptions {
  readonly partition: number;
  readonly name: NodeName;
  readonly address: string;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly host: PartitionHost;
  /** Something has changed that may ask for a decision. */
  readonly onChange: () => void;
  readonly onError: (partition: number, error: SluiceError) => void;
}

export class PartitionLife {
  readonly partition: number;
  readonly #options: PartitionLifeOptions;
  #state: PartitionState = "away";
  #entry: OwnerEntry | undefined;
  #revision = 0;
  /** A step is under way: the next one is decided when it is over. */
  #isBusy = false;
  #retryAt = 0;
  #failures = 0;
  /** When the last write to the log that went through was sent. */
  #provenAt = Number.NEGATIVE_INFINITY;
  #isProving = false;
  /** When a successor was named. */
  #namedAt = 0;
  /** Why its log has failed since it was opened. */
  #fault: SluiceError | undefined;
  /** Ends the warming that is under way. */
  #endWarming: (() => void) | undefined;
  #openedEpoch = 0;
  #servedAt = 0;
  /** The anchor as it was noted last, and when. */
  #noted: Anchor | undefined;
  #notedRevision = 0;
  #notedAt = Number.NEGATIVE_INFINITY;
  openMs = 0;

  constructor(options: PartitionLifeOptions) {
    this.#options = options;
    this.partition = options.partition;
  }

  get state(): PartitionState {
    return this.#state;
  }

  get entry(): OwnerEntry | undefined {
    return this.#entry;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isOurs(): boolean {
    return isSame(this.#entry, this.#options.name);
  }

  /** Whether no node may open it for now. */
  get isHeld(): boolean {
    return this.#entry?.held !== undefined;
  }

  get provenAt(): number {
    return this.#provenAt;
  }

  /** When the next try to open it is due, should it be ours. */
  get retryAt(): number {
    return this.#retryAt;
  }

  /** Whether we have named a successor. */
  get isPromised(): boolean {
    return this.isOurs && this.#entry?.next !== undefined;
  }

  /** Whether it came from a node that could not write to its log, a short while ago. */
  isRefuge(now: number): boolean {
    return this.#entry?.isGivenUp === true && now - this.#servedAt < GIVEN_UP_MS;
  }

  /** Whether the named successor has read the log. */
  get isNextReady(): boolean {
    return this.#entry?.isNextReady === true;
  }

  /** Whether the named successor is ready, or has had its time. */
  isNextDue(now: number): boolean {
    return this.isNextReady || now - this.#namedAt > WARM_MS_MAX;
  }

  /** The owner's entry has changed. */
  hear(text: string | undefined, revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#entry = parseOwnerEntry(text);
    // An operator may have repaired it: whatever went wrong before is tried again at once.
    if (this.#entry?.node !== "") return;
    this.#retryAt = 0;
    this.#failures = 0;
  }

  /** It has no owner, or was taken from a dead one: claims it and opens it. */
  claim(): void {
    this.#step(async () => {
      const { clock, host } = this.#options;
      const hasLog = this.#entry?.hasLog === true;
      if (!this.#isGiven()) await this.#claim();
      this.#openedEpoch = this.#entry!.epoch;
      this.#set("opening");
      this.#fault = undefined;
      const since = clock.now();
      await host.open(this.partition, { hasLog, anchor: await this.#anchor() });
      this.openMs = clock.now() - since;
      this.#provenAt = since;
      this.#failures = 0;
      this.#servedAt = clock.now();
      this.#set("serving");
      // If this write is lost, the node that opens it next writes it.
      if (!hasLog) await this.#write({ ...this.#entry!, hasLog: true }).catch(() => {});
    });
  }

  /** Whether it was handed to us, and we have not opened it since. */
  #isGiven(): boolean {
    return (
      this.isOurs && this.#entry?.isHandedOver === true && this.#entry.epoch > this.#openedEpoch
    );
  }

  async #claim(): Promise<void> {
    const { name, address } = this.#options;
    const before = this.#entry;
    await this.#write({
      ...name,
      address,
      epoch: (before?.epoch ?? 0) + 1,
      from: before?.node ?? "",
      isHandedOver: false,
      hasLog: before?.hasLog === true,
    });
  }

  /** Reads the log ahead of a handover to us, and says so. */
  warm(): void {
    this.#step(async () => {
      const { clock, host, name } = this.#options;
      this.#set("warming");
      const { promise: ended, resolve } = Promise.withResolvers<"ended">();
      this.#endWarming = () => resolve("ended");
      const warmed = Promise.race([host.warm(this.partition), ended]);
      const isEnded = (await within(clock, WARM_MS_MAX, warmed)) === "ended";
      const entry = this.#entry;
      if (!isEnded && isSame(entry?.next, name)) {
        return this.#write({ ...entry!, isNextReady: true });
      }
      // What was read is of use only if the partition was given to us meanwhile.
      if (!this.isOurs) host.cool(this.partition);
      this.#set("away");
    });
  }

  /** Reads the log along, so that a takeover does not have to. */
  standBy(): void {
    const { host } = this.#options;
    if (host.standBy === undefined) return;
    this.#set("standby");
    host.standBy(this.partition).catch((error) => this.#failedAlong(toSluiceError(error)));
  }

  /** What was read is of no use any more; it may have been given up on purpose. */
  #failedAlong(error: SluiceError): void {
    if (this.#state !== "standby" || this.#isBusy) return;
    this.cool();
    this.#putOff(error);
  }

  /** This node ends: nothing waits for what it reads ahead. */
  stopWarming(): void {
    this.#endWarming?.();
  }

  /** The handover that we were warming up for does not come. */
  cool(): void {
    this.#options.host.cool(this.partition);
    this.#set("away");
  }

  /** Names the successor, which may read the log ahead while we go on serving. */
  promise(next: NodeName | undefined): void {
    this.#step(async () => {
      const { next: _, isNextReady: __, ...entry } = this.#entry!;
      this.#namedAt = this.#options.clock.now();
      await this.#write(next === undefined ? entry : { ...entry, next });
    });
  }

  /** Hands it over to a node, or leaves it without an owner. */
  handOver(to: NodeName | undefined, address: string): void {
    this.#step(async () => {
      this.#set("leaving");
      const { epoch, hasLog = false } = this.#entry!;
      await this.#close();
      const { name, host } = this.#options;
      const next = to ?? { node: "", incarnation: "" };
      await this.#write({
        node: next.node,
        incarnation: next.incarnation,
        address,
        epoch: epoch + 1,
        from: name.node,
        isHandedOver: true,
        hasLog,
        anchor: host.anchorOf(this.partition),
      });
      this.#set("away");
      // The successor has it already; a later owner may not.
      void this.#noteAnchor();
    });
  }

  /**
   * Its log confirms nothing to us, and the successor has read it: that one gets it first, and its
   * fence ends what we could not write. If the registry does not take it, all stays as it was.
   */
  giveUp(to: NodeName, address: string): void {
    this.#step(async () => {
      const { host, name } = this.#options;
      const { epoch, hasLog = false } = this.#entry!;
      this.rest();
      const from = { from: name.node, isHandedOver: true, isGivenUp: true };
      try {
        await this.#write({ ...to, address, epoch: epoch + 1, ...from, hasLog });
      } catch (error) {
        host.resume(this.partition);
        this.#set("serving");
        throw error;
      }
      this.#set("leaving");
      await this.#close();
      this.#set("away");
    });
  }

  /** Another node has it. */
  lose(): void {
    this.#step(async () => {
      this.#set("leaving");
      if (this.#fault !== undefined) this.#putOff(this.#fault);
      await this.#close();
      this.#set("away");
    });
  }

  rest(): void {
    this.#options.host.rest(this.partition);
    this.#set("resting");
  }

  resume(): void {
    this.#options.host.resume(this.partition);
    this.#set("serving");
  }

  /** The log confirms or refuses: the node that can write to it owns it. */
  prove(): void {
    if (this.#isProving) return;
    this.#isProving = true;
    const { clock, host, onChange } = this.#options;
    const sentAt = clock.now();
    const proven = (): void => {
      this.#provenAt = Math.max(this.#provenAt, sentAt);
      onChange();
    };
    within(clock, REGISTRY_MS_MAX, host.prove(this.partition))
      .then(proven, () => {})
      .finally(() => {
        this.#isProving = false;
      });
  }

  /** Notes the newest that is confirmed, now and then: the next owner must find it in the log. */
  note(): void {
    const now = this.#options.clock.now();
    if (now - this.#notedAt < ANCHOR_MS) return;
    this.#notedAt = now;
    void this.#noteAnchor();
  }

  /** What its log must have: who hands it over says so. */
  async #anchor(): Promise<Anchor | undefined> {
    return this.#entry?.anchor ?? (await this.#readAnchor());
  }

  async #readAnchor(): Promise<Anchor | undefined> {
    const { registry, clock } = this.#options;
    const key = ANCHOR_PREFIX + this.partition;
    const found = await within(clock, REGISTRY_MS_MAX, registry.get(key));
    this.#notedRevision = found?.revision ?? 0;
    this.#noted = parseAnchor(found?.value);
    return this.#noted;
  }

  /** One that cannot be written is written the next time: the one before it holds as well. */
  async #noteAnchor(): Promise<void> {
    const { registry, clock, host } = this.#options;
    const anchor = host.anchorOf(this.partition);
    if (anchor === undefined || anchor.position === this.#noted?.position) return;
    const key = ANCHOR_PREFIX + this.partition;
    const text = JSON.stringify(anchor);
    const revision = this.#notedRevision;
    const written =
      revision === 0 ? registry.create(key, text) : registry.update(key, text, revision);
    try {
      this.#notedRevision = await within(clock, REGISTRY_MS_MAX, written);
      this.#noted = anchor;
    } catch {
      await this.#readAnchor().catch(() => {});
    }
  }

  /** Its log has failed, or was fenced: it is closed, and opened again if it is still ours. */
  fail(error: SluiceError): void {
    // Its broker and its streams each tell of the same end.
    if (this.#fault !== undefined) return;
    this.#fault = error;
    this.#options.onError(this.partition, error);
    this.#options.onChange();
  }

  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  #putOff({ code }: SluiceError): void {
    const { clock, onChange } = this.#options;
    const isUnreadable = code === "LOG_DAMAGED" || code === "LOG_VERSION";
    const mostMs = isUnreadable ? UNREADABLE_RETRY_MS_MAX : RETRY_MS_MAX;
    const ms = Math.min(mostMs, RETRY_MS_MIN * 2 ** this.#failures++);
    this.#retryAt = clock.now() + ms;
    clock.at(this.#retryAt, onChange).unref?.();
  }

  #set(state: PartitionState): void {
    this.#state = state;
  }

  async #close(): Promise<void> {
    const { clock, host } = this.#options;
    // The successor's fence ends what takes too long.
    await within(clock, CLOSE_MS_MAX, host.close(this.partition)).catch(() => {});
  }

  async #write(entry: OwnerEntry): Promise<void> {
    const { registry, clock } = this.#options;
    const text = JSON.stringify(entry);
    const key = OWNER_PREFIX + this.partition;
    const written =
      this.#revision === 0
        ? registry.create(key, text)
        : registry.update(key, text, this.#revision);
    this.hear(text, await within(clock, REGISTRY_MS_MAX, written));
  }

  /**
   * What we know is not what is there. Mostly the news is on its way. But a NATS server that leads
   * from now on may count differently from the one before, and no message would say so.
   */
  async #lookUp(): Promise<void> {
    const { registry, clock } = this.#options;
    const known = this.#revision;
    const asked = registry.get(OWNER_PREFIX + this.partition);
    const found = await within(clock, REGISTRY_MS_MAX, asked).catch(() => undefined);
    if (found === undefined || this.#revision !== known) return;
    this.#revision = found.revision;
    this.#entry = parseOwnerEntry(found.value);
  }

  #step(act: () => Promise<void>): void {
    this.#isBusy = true;
    act()
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#isBusy = false;
        this.#options.onChange();
      });
  }

  async #failed(cause: unknown): Promise<void> {
    const { host, onError } = this.#options;
    const error = toSluiceError(cause);
    if (isConflict(error)) await this.#lookUp();
    else onError(this.partition, error);
    this.#putOff(error);
    if (this.#state === "warming") host.cool(this.partition);
    else if (this.#state === "opening") await this.#close();
    else if (this.#state !== "leaving") return;
    this.#set("away");
  }
}
