import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import { DUPLICATE_WINDOW_MS, NATS_RETRY_MS } from "../limits.ts";
import type { Position } from "../log.ts";
import { findStream } from "./durability.ts";
import {
  isPassing,
  logFailed,
  NOT_CONNECTED,
  reasonOf,
  streamDamaged,
  toLogError,
} from "./errors.ts";
import { jetStreamManagerOf } from "./jetstream-place.ts";
import { NatsLink } from "./nats-link.ts";
import { type NatsLogOptions, type NatsSettings, parseNatsOptions } from "./options.ts";

/** A message of the stream, with its place. */
export interface StoredMessage {
  readonly sequence: Position;
  readonly data: Uint8Array;
  /** By the clock of the server that led the stream then. */
  readonly storedAt: number;
}

/** What the log asks of its stream beside appends. Each call is made again until a deadline. */
export class NatsStream {
  readonly name: string;
  readonly #settings: NatsSettings;
  readonly manager: JetStreamManager;
  readonly #link: NatsLink;

  private constructor(settings: NatsSettings, manager: JetStreamManager) {
    this.name = settings.stream;
    this.#settings = settings;
    this.manager = manager;
    this.#link = NatsLink.of(settings.connection);
  }

  /** Opens the stream, which is made when it does not exist. */
  static async open(settings: NatsSettings): Promise<NatsStream> {
    const { connection, ackWaitMs } = settings;
    const manager = await jetStreamManagerOf(connection, { timeout: ackWaitMs });
    const stream = new NatsStream(settings, manager);
    checkConfig(await stream.#ensure());
    return stream;
  }

  info(): Promise<StreamInfo> {
    return this.#until("asking", () => this.manager.streams.info(this.name));
  }

  /** By the leader: another replica may be behind, or have kept another history. */
  read(sequence: Position): Promise<Uint8Array | undefined> {
    return this.#until("reading", () => this.readFromLeader(sequence));
  }

  /** One attempt: a caller that asks the leader wants the current state. */
  async readFromLeader(sequence: Position): Promise<Uint8Array | undefined> {
    try {
      const found = await this.manager.streams.getMessage(this.name, { seq: sequence });
      return found?.data;
    } catch (error) {
      if (isCode(error, JetStreamApiCodes.NoMessageFound)) return undefined;
      throw error;
    }
  }

  /** Stores a message wherever it arrives, and more than once when an answer is lost. */
  async publish(message: Uint8Array): Promise<void> {
    const { subject } = this.#settings;
    await this.#until("opening", () => this.manager.jetstream().publish(subject, message));
  }

  /** Damage, with the server that leads the stream: its copy is the one that was read. */
  async blamed(error: unknown): Promise<unknown> {
    if (!(error instanceof SluiceError) || error.code !== "LOG_DAMAGED") return error;
    const { stream, sequence, what, server: known } = error.details;
    if (known !== undefined || what === undefined) return error;
    const info = await this.manager.streams.info(this.name).catch(() => undefined);
    const server = info?.cluster?.leader ?? this.#settings.connection.info?.server_name;
    return streamDamaged(String(stream), Number(sequence), String(what), server);
  }

  /** Forgets all messages before a sequence. */
  async purge(before: Position): Promise<void> {
    await this.#until("trimming", () => this.manager.streams.purge(this.name, { seq: before }));
  }

  #ensure(): Promise<StreamInfo> {
    return this.#until("opening", async () => {
      try {
        return await this.manager.streams.info(this.name);
      } catch (error) {
        if (!isCode(error, JetStreamApiCodes.StreamNotFound)) throw error;
        if (!this.#settings.create) {
          throw new SluiceError("NOT_FOUND", `there is no stream ${this.name}`, {
            stream: this.name,
          });
        }
        return this.manager.streams.add(configOf(this.#settings));
      }
    });
  }

  async #until<T>(doing: string, act: () => Promise<T>): Promise<T> {
    const endAt = performance.now() + this.#settings.deadlineMs;
    for (;;) {
      try {
        return await act();
      } catch (error) {
        const isOver = performance.now() + NATS_RETRY_MS >= endAt;
        if (this.#link.isClosed || !isPassing(error)) throw toLogError(this.name, doing, error);
        const reason = this.#link.isUp ? reasonOf(error) : NOT_CONNECTED;
        if (isOver) throw logFailed(this.name, doing, reason, error);
        await new Promise((resolve) => setTimeout(resolve, NATS_RETRY_MS));
      }
    }
  }
}

/** Nothing is ever lost by policy: no limits, no age, and only the log itself forgets. */
function configOf({
  stream,
  subject,
  replicas,
  storageBytes = -1,
}: NatsSettings): Partial<StreamConfig> & {
  name: string;
} {
  return {
    name: stream,
    subjects: [subject],
    description: "a log of Sluice",
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_age: 0,
    max_bytes: storageBytes,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    deny_delete: true,
    allow_direct: false,
  };
}

function checkConfig({ config }: StreamInfo): void {
  const wrong =
    (config.storage !== StorageType.File && "its storage is not a file") ||
    (config.retention !== RetentionPolicy.Limits && "its retention is not by limits") ||
    (config.max_age > 0 && "it forgets by age") ||
    (config.max_msgs_per_subject > 0 && "it forgets by subject") ||
    (config.discard !== DiscardPolicy.New && "it discards old messages when it is full");
  if (wrong === false) return;
  const message = `the stream ${config.name} cannot be a log: ${wrong}`;
  throw new SluiceError("INVALID", message, { field: "stream", value: config.name });
}

function isCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/**
 * Deletes the stream of a log and makes an empty one with the same settings; one that is gone gets
 * those of a new log.
 */
export async function replaceLogStream(options: NatsLogOptions): Promise<void> {
  const settings = parseNatsOptions({ ...options, create: true });
  const { connection, stream, ackWaitMs } = settings;
  const manager = await jetStreamManagerOf(connection, { timeout: ackWaitMs });
  const found = await findStream(connection, stream);
  try {
    if (found !== undefined) await manager.streams.delete(stream);
    await manager.streams.add({ ...configOf(settings), ...kept(found) });
  } catch (error) {
    throw toLogError(stream, "replacing", error);
  }
}

/** The messages of a stream from one on, whatever they are; those that are gone are left out. */
export async function* readMessages(
  connection: NatsConnection,
  stream: string,
  first: Position,
): AsyncGenerator<{ sequence: Position; data: Uint8Array }> {
  const opened = await NatsStream.open(parseNatsOptions({ connection, stream, create: false }));
  const { state } = await opened.info();
  for (let sequence = Math.max(first, state.first_seq); sequence <= state.last_seq; sequence++) {
    const data = await opened.read(sequence);
    if (data !== undefined) yield { sequence, data };
  }
}

/** What an operator may have changed. */
function kept(found: StreamInfo | undefined): Partial<StreamConfig> {
  if (found === undefined) return {};
  const { num_replicas, max_bytes, placement } = found.config;
  return { num_replicas, max_bytes, ...(placement === undefined ? {} : { placement }) };
}

/** Makes the stream of a log; one of that name that is there must be able to be one. */
export async function createLogStream(options: NatsLogOptions): Promise<void> {
  await NatsStream.open(parseNatsOptions({ ...options, create: true }));
}
