import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  StorageType,
} from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import {
  REGISTRY_ANSWER_MS,
  REGISTRY_BUSY_MS,
  REGISTRY_BUSY_PAUSE_MS,
  REPLICAS_IN_CLUSTER,
} from "../limits.ts";
import { DELETED, MESSAGE_ID, NatsWatch, OPERATION } from "./nats-watch.ts";
import {
  checkKey,
  checkValue,
  closedRegistry,
  conflict,
  type Entry,
  type Registry,
  type WatchedEntry,
} from "./registry.ts";

export interface NatsRegistryOptions {
  /** Stays the caller's: closing the registry does not close it. */
  readonly connection: NatsConnection;
  /** The key-value bucket's name; it is made when it does not exist. */
  readonly bucket: string;
  /** HomeCopies that a new bucket gets: 3 in a cluster of servers, 1 with a single one. */
  readonly replicas?: number;
  /** How long one call waits for its answer; 2 s. */
  readonly answerMs?: number;
}

/**
 * A registry in a key-value bucket of NATS JetStream. A change names the last sequence of the whole
 * bucket, not that of its key: a cluster of servers 2.9 judges the latter before it puts changes in
 * order, so that several with the same revision all pass. The price: a change reads first, and is
 * made again when another key has changed meanwhile. What changes often is renewed, which names the
 * sequence of its key and costs one message.
 */
export class NatsRegistry implements Registry {
  readonly #bucket: string;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #kv: KV;
  readonly #stops = new Set<() => void>();
  #isClosed = false;

  private constructor(bucket: string, client: JetStreamClient, manager: JetStreamManager, kv: KV) {
    this.#bucket = bucket;
    this.#client = client;
    this.#manager = manager;
    this.#kv = kv;
  }

  static async open(options: NatsRegistryOptions): Promise<NatsRegistry> {
    const { connection, bucket, answerMs = REGISTRY_ANSWER_MS } = options;
    const inCluster = connection.info?.cluster !== undefined;
    const { replicas = inCluster ? REPLICAS_IN_CLUSTER : 1 } = options;
    if (!/^[\w-]+$/.test(bucket)) {
      const message = `bucket must be a name of letters, digits, - and _, got ${bucket}`;
      throw new SluiceError("INVALID", message, { field: "bucket", value: bucket });
    }
    try {
      const client = jetstream(connection, { timeout: answerMs });
      // A direct get asks any replica, and one that is behind answers what is no longer so.
      const kv = await new Kvm(client).create(bucket, {
        ...{ replicas, history: 1, storage: StorageType.File, allow_direct: false },
      });
      return new NatsRegistry(bucket, client, await client.jetstreamManager(false), kv);
    } catch (error) {
      throw toRegistryError(bucket, error);
    }
  }

  async get(key: string): Promise<Entry | undefined> {
    return this.#call(key, () => this.#read(key));
  }

  create(key: string, value: string): Promise<number> {
    return this.#call(key, () => {
      checkValue(value);
      return this.#change(key, undefined, value);
    });
  }

  update(key: string, value: string, revision: number): Promise<number> {
    return this.#call(key, () => {
      checkValue(value);
      return this.#change(key, revision, value);
    });
  }

  renew(key: string, value: string, revision: number): Promise<number> {
    return this.#call(key, async () => {
      checkValue(value);
      const head = headers();
      head.set("Nats-Expected-Last-Subject-Sequence", `${revision}`);
      try {
        return await this.#publish(key, value, head);
      } catch (error) {
        throw isWrongSequence(error) ? conflict(key) : error;
      }
    });
  }

  async delete(key: string, revision: number): Promise<void> {
    await this.#call(key, () => this.#change(key, revision, undefined));
  }

  async watch(prefix: string, onEntry: (entry: WatchedEntry) => void): Promise<() => void> {
    if (this.#isClosed) throw closedRegistry();
    const watch = new NatsWatch({
      client: this.#client,
      manager: this.#manager,
      bucket: this.#bucket,
      onEntry: (entry) => {
        if (!this.#isClosed && entry.key.startsWith(prefix)) onEntry(entry);
      },
    });
    const stop = (): void => {
      watch.stop();
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
    try {
      await watch.open();
      return stop;
    } catch (error) {
      stop();
      throw toRegistryError(prefix, error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of [...this.#stops]) stop();
  }

  async #read(key: string): Promise<Entry | undefined> {
    const entry = await this.#kv.get(key);
    if (entry === null || DELETED.includes(entry.operation)) return undefined;
    return { value: entry.string(), revision: entry.revision };
  }

  /** Sets or deletes a key that has this revision, or is not there. Answers the new revision. */
  async #change(
    key: string,
    revision: number | undefined,
    value: string | undefined,
  ): Promise<number> {
    const endAt = performance.now() + REGISTRY_BUSY_MS;
    const head = headers();
    if (value === undefined) head.set(OPERATION, "DEL");
    for (;;) {
      // In this order: what is read later than the sequence is at least as new.
      const { state } = await this.#manager.streams.info(`KV_${this.#bucket}`);
      if ((await this.#read(key))?.revision !== revision) throw conflict(key);
      head.set("Nats-Expected-Last-Sequence", `${state.last_seq}`);
      try {
        return await this.#publish(key, value ?? "", head);
      } catch (error) {
        if (!isWrongSequence(error) || performance.now() > endAt) throw error;
      }
      await setTimeout(Math.random() * REGISTRY_BUSY_PAUSE_MS);
    }
  }

  async #publish(key: string, value: string, head: MsgHdrs): Promise<number> {
    const subject = `$KV.${this.#bucket}.${key}`;
    // A server that was killed knows by it what it has stored before.
    head.set(MESSAGE_ID, randomUUID());
    const { seq } = await this.#client.publish(subject, value, { headers: head });
    return seq;
  }

  async #call<T>(key: string, act: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedRegistry();
    checkKey(key);
    try {
      return await act();
    } catch (error) {
      throw toRegistryError(key, error);
    }
  }
}

function isWrongSequence(error: unknown): boolean {
  const { StreamWrongLastSequence } = JetStreamApiCodes;
  return error instanceof JetStreamApiError && error.code === StreamWrongLastSequence;
}

function toRegistryError(key: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = `the registry does not answer: ${reason}`;
  return new SluiceError("DISCONNECTED", message, { key, reason }, { cause: error });
}
