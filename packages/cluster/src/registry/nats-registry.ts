import { randomUUID } from "node:crypto";
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  StorageType,
} from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { headers, type NatsConnection } from "@nats-io/transport-node";
import { jetStreamOf } from "@sluice/log/nats";
import { SluiceError, SystemClock } from "@sluice/protocol";
import { REGISTRY_ANSWER_MS, REPLICAS_IN_CLUSTER } from "../limits.ts";
import { keepTrying } from "../within.ts";
import { DELETED, OPERATION, watchBucket } from "./nats-watch.ts";
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
  /** The key-value bucket's name. */
  readonly bucket: string;
  /** Whether it is made when it does not exist; else that is NOT_FOUND. */
  readonly create?: boolean;
  /** Copies that a new bucket gets: 3 in a cluster of servers, 1 with a single one. */
  readonly replicas?: number;
  /** How long one call waits for its answer; 2 s. */
  readonly answerMs?: number;
  /** How long a read is tried again while there is no answer. Default: not at all. */
  readonly readMs?: number;
}

const MESSAGE_ID = "Nats-Msg-Id";

/**
 * A registry in a key-value bucket of NATS JetStream. A change names the last sequence of its key,
 * which the leader of the bucket checks.
 */
export class NatsRegistry implements Registry {
  readonly #bucket: string;
  readonly #client: JetStreamClient;
  readonly #kv: KV;
  readonly #readMs: number;
  readonly #stops = new Set<() => void>();
  #isClosed = false;

  private constructor(bucket: string, client: JetStreamClient, kv: KV, readMs: number) {
    this.#bucket = bucket;
    this.#client = client;
    this.#kv = kv;
    this.#readMs = readMs;
  }

  static async open(options: NatsRegistryOptions): Promise<NatsRegistry> {
    const { connection, bucket, answerMs = REGISTRY_ANSWER_MS, readMs = 0 } = options;
    const inCluster = connection.info?.cluster !== undefined;
    const { replicas = inCluster ? REPLICAS_IN_CLUSTER : 1 } = options;
    if (!/^[\w-]+$/.test(bucket)) {
      const message = `bucket must be a name of letters, digits, - and _, got ${bucket}`;
      throw new SluiceError("INVALID", message, { field: "bucket", value: bucket });
    }
    try {
      const client = jetStreamOf(connection, { timeout: answerMs });
      // A direct get asks any replica, and one that is behind answers what is no longer so.
      const settings = { replicas, history: 1, storage: StorageType.File, allow_direct: false };
      const manager = await client.jetstreamManager(false);
      const buckets = new Kvm(client);
      if (options.create === true) await buckets.create(bucket, settings);
      else await manager.streams.info(`KV_${bucket}`);
      return new NatsRegistry(bucket, client, await buckets.open(bucket), readMs);
    } catch (error) {
      throw toRegistryError(bucket, error);
    }
  }

  get(key: string): Promise<Entry | undefined> {
    const read = (): Promise<Entry | undefined> =>
      this.#call(key, async () => {
        const found = await this.#find(key);
        if (found === undefined || found.isDeleted) return undefined;
        return { value: found.value, revision: found.revision };
      });
    return keepTrying(new SystemClock(), this.#readMs, read);
  }

  create(key: string, value: string): Promise<number> {
    return this.#call(key, async () => {
      checkValue(value);
      const found = await this.#find(key);
      if (found !== undefined && !found.isDeleted) throw conflict(key);
      return this.#publish(key, value, found?.revision ?? 0);
    });
  }

  update(key: string, value: string, revision: number): Promise<number> {
    return this.#call(key, async () => {
      checkValue(value);
      // A key that is not there has none, and 0 would make it.
      if (revision < 1) throw conflict(key);
      return this.#publish(key, value, revision);
    });
  }

  async delete(key: string, revision: number): Promise<void> {
    await this.#call(key, async () => {
      if (revision < 1) throw conflict(key);
      await this.#publish(key, undefined, revision);
    });
  }

  async watch(
    keys: readonly string[],
    onEntry: (entry: WatchedEntry) => void,
  ): Promise<() => void> {
    if (this.#isClosed) throw closedRegistry();
    try {
      const end = await watchBucket({
        client: this.#client,
        bucket: this.#bucket,
        keys,
        onEntry: (entry) => {
          if (!this.#isClosed) onEntry(entry);
        },
      });
      const stop = (): void => {
        end();
        this.#stops.delete(stop);
      };
      this.#stops.add(stop);
      return stop;
    } catch (error) {
      throw toRegistryError(keys.join(), error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of [...this.#stops]) stop();
  }

  async #find(key: string): Promise<(Entry & { readonly isDeleted: boolean }) | undefined> {
    const entry = await this.#kv.get(key);
    if (entry === null) return undefined;
    const { revision, operation } = entry;
    return { value: entry.string(), revision, isDeleted: DELETED.includes(operation) };
  }

  /** Sets or deletes a key that has this revision. Answers the new one. */
  async #publish(key: string, value: string | undefined, revision: number): Promise<number> {
    const head = headers();
    if (value === undefined) head.set(OPERATION, "DEL");
    head.set("Nats-Expected-Last-Subject-Sequence", `${revision}`);
    // A server that was killed knows by it what it has stored before.
    head.set(MESSAGE_ID, randomUUID());
    try {
      const subject = `$KV.${this.#bucket}.${key}`;
      return (await this.#client.publish(subject, value ?? "", { headers: head })).seq;
    } catch (error) {
      throw isWrongSequence(error) ? conflict(key) : error;
    }
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

/** What a server answers since 2.11 while another change of the key is on its way. */
const WRONG_SEQUENCE_IN_FLIGHT = 10_164;

function isWrongSequence(error: unknown): boolean {
  const codes: readonly number[] = [
    JetStreamApiCodes.StreamWrongLastSequence,
    WRONG_SEQUENCE_IN_FLIGHT,
  ];
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

function toRegistryError(key: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const { StreamNotFound } = JetStreamApiCodes;
  if (error instanceof JetStreamApiError && error.code === StreamNotFound) {
    const message =
      "there is no registry of a cluster at these NATS servers: run `sluice cluster create` once";
    return new SluiceError("NOT_FOUND", message, { key }, { cause: error });
  }
  const reason = error instanceof Error ? error.message : String(error);
  const message = `the registry does not answer: ${reason}`;
  return new SluiceError("DISCONNECTED", message, { key, reason }, { cause: error });
}
