/**
 * All that is in a bucket, and then what changes. The list is what the leader has. A consumer tells
 * what comes after it, and is served by any replica, which a server 2.9 that was killed may have
 * spoiled: counting what was refused anew, it doubles messages or leaves them out, and from then on
 * its sequences are not the leader's. So each consumer has to tell a message of our own first, with
 * the sequence that the leader has answered; another one is made when it does not.
 *
 * Sequences have no gaps but where a key was written again before it was told, or where a replica
 * is behind; when one is found, the list is read again.
 */

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from "@nats-io/jetstream";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import {
  WATCH_AGAIN_MS,
  WATCH_CALM_MS,
  WATCH_DOUBT_MS_MAX,
  WATCH_OPEN_MS,
  WATCH_PROBE_MS,
  WATCH_READS_MAX,
} from "../limits.ts";
import type { WatchedEntry } from "./registry.ts";

export interface NatsWatchOptions {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly bucket: string;
  readonly onEntry: (entry: WatchedEntry) => void;
}

export const OPERATION = "KV-Operation";
export const DELETED: readonly string[] = ["DEL", "PURGE"];
export const MESSAGE_ID = "Nats-Msg-Id";
/** The one key that is nobody's entry: what is written there is to come back to its writer. */
const PROBE_KEY = "probe";
export class NatsWatch {
  readonly #options: NatsWatchOptions;
  readonly #stream: string;
  readonly #before: string;
  /** The revision of each key that was told last: neither a list nor a consumer goes back. */
  readonly #told = new Map<string, number>();
  /** The consumer that has told of the probe as the leader did. */
  #consumer: string | undefined;
  /** What came before it had. */
  #held: JsMsg[] = [];
  #probe = { id: "", hear: (_sequence: number): void => {} };
  /** The last sequence that was heard of. */
  #heard = 0;
  #isCatchingUp = false;
  #mustList = false;
  #isDoubting = false;
  #doubtedAt = Number.NEGATIVE_INFINITY;
  #doubtMs = WATCH_AGAIN_MS;
  #isOver = false;
  #end = (): void => {};

  constructor(options: NatsWatchOptions) {
    this.#options = options;
    this.#stream = `KV_${options.bucket}`;
    this.#before = `$KV.${options.bucket}.`;
  }

  /** Resolves when all that is there was told. */
  async open(): Promise<void> {
    try {
      await this.#connect(performance.now() + WATCH_OPEN_MS);
      await this.#list();
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  stop(): void {
    this.#isOver = true;
    this.#end();
  }

  async #connect(endAt: number): Promise<void> {
    while (!(await this.#tryConsumer())) {
      if (performance.now() >= endAt) {
        throw new SluiceError("DISCONNECTED", "no server tells what the registry's leader has");
      }
      await setTimeout(WATCH_AGAIN_MS);
    }
  }

  /** Answers whether the new consumer can be trusted. */
  async #tryConsumer(): Promise<boolean> {
    const { client, manager } = this.#options;
    this.#end();
    this.#consumer = undefined;
    this.#held = [];
    const { state } = await manager.streams.info(this.#stream);
    const consumer = await client.consumers.getPushConsumer(this.#stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: state.last_seq + 1,
    });
    const id = randomUUID();
    const heard = new Promise<number>((hear) => {
      this.#probe = { id, hear };
    });
    const messages = await consumer.consume({ callback: (message) => this.#onMessage(message) });
    this.#end = () => messages.stop();
    const head = headers();
    head.set(MESSAGE_ID, id);
    const { seq } = await client.publish(this.#before + PROBE_KEY, id, { headers: head });
    const late = new AbortController();
    const never = setTimeout(WATCH_PROBE_MS, 0, { signal: late.signal }).catch(() => 0);
    const isSound = (await Promise.race([heard, never])) === seq;
    late.abort();
    if (!isSound || this.#isOver) return this.#isOver;
    this.#heard = state.last_seq;
    this.#consumer = this.#held[0]!.info.consumer;
    for (const message of this.#held.splice(0)) this.#onMessage(message);
    return true;
  }

  #onMessage(message: JsMsg): void {
    const { seq, info } = message;
    if (this.#consumer === undefined) {
      this.#held.push(message);
      if (message.headers?.get(MESSAGE_ID) === this.#probe.id) this.#probe.hear(seq);
      return;
    }
    // The library has made another one, of any server.
    if (info.consumer !== this.#consumer) return void this.#catchUp();
    const isGap = seq > this.#heard + 1;
    this.#heard = Math.max(this.#heard, seq);
    this.#tell(message.subject, message.headers, message.string(), seq);
    if (isGap) void this.#doubt();
  }

  /**
   * A gap is harmless mostly, and servers that are too busy to tell all that is written make many:
   * the more of them, the later they are looked into.
   */
  async #doubt(): Promise<void> {
    if (this.#isDoubting) return;
    this.#isDoubting = true;
    const isCalm = performance.now() - this.#doubtedAt > WATCH_CALM_MS;
    this.#doubtMs = isCalm ? WATCH_AGAIN_MS : Math.min(2 * this.#doubtMs, WATCH_DOUBT_MS_MAX);
    await setTimeout(this.#doubtMs, undefined, { ref: false });
    this.#doubtedAt = performance.now();
    this.#isDoubting = false;
    await this.#catchUp();
  }

  #tell(subject: string, head: MsgHdrs | undefined, text: string, revision: number): void {
    const key = subject.slice(this.#before.length);
    if (this.#isOver || key === PROBE_KEY || revision <= (this.#told.get(key) ?? 0)) return;
    this.#told.set(key, revision);
    const isDeleted = DELETED.includes(head?.get(OPERATION) ?? "");
    this.#options.onEntry({ key, value: isDeleted ? undefined : text, revision });
  }

  /** Something was missed: a consumer that can be trusted, and the list once more. */
  async #catchUp(): Promise<void> {
    this.#mustList = true;
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    while (this.#mustList && !this.#isOver) {
      // Nobody waits for it: a process that has nothing else to do may end.
      await setTimeout(WATCH_AGAIN_MS, undefined, { ref: false });
      this.#mustList = false;
      try {
        await this.#connect(performance.now() + WATCH_OPEN_MS);
        await this.#list();
      } catch {
        this.#mustList = true;
      }
    }
    this.#isCatchingUp = false;
  }

  async #list(): Promise<void> {
    const { streams } = this.#options.manager;
    const { state } = await streams.info(this.#stream, { subjects_filter: ">" });
    const subjects = Object.keys(state.subjects ?? {});
    for (let first = 0; first < subjects.length && !this.#isOver; first += WATCH_READS_MAX) {
      const some = subjects.slice(first, first + WATCH_READS_MAX);
      const read = some.map(async (subject) => {
        const found = await streams.getMessage(this.#stream, { last_by_subj: subject });
        if (found !== null) this.#tell(subject, found.header, found.string(), found.seq);
      });
      await Promise.all(read);
    }
  }
}
