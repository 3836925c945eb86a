import {
  AckPolicy,
  type Consumer,
  type ConsumerInfo,
  type ConsumerMessages,
  DeliverPolicy,
  type JsMsg,
} from "@nats-io/jetstream";
import { errors, nanos } from "@nats-io/transport-node";
import {
  CONSUMERS_AT_ONCE,
  FETCH_WAIT_MS,
  LEADER_TRIES,
  NATS_RETRY_MS,
  REPLAY_MESSAGES,
  REPLAY_WAIT_MS,
} from "../limits.ts";
import type { Position } from "../log.ts";
import { isPassing, logFailed, NOT_CONNECTED, reasonOf, toLogError } from "./errors.ts";
import { NatsLink } from "./nats-link.ts";
import type { NatsStream, StoredMessage } from "./nats-stream.ts";
import type { NatsSettings } from "./options.ts";

/**
 * The messages of a stream in order, by a consumer that lives in the memory of the server that
 * leads the stream: another replica may be behind, or have kept another history. JetStream puts a
 * consumer on any of them, so several are made until one is there. While one fetch is gone through
 * the next is on its way, and no more: a slow reader holds no more in memory than a fast one. If a
 * consumer breaks, a new one continues where it was, until the deadline. Single gets would take a
 * round trip each, and gets in batches are unknown to servers before 2.11.
 */
export class Feed {
  readonly #settings: NatsSettings;
  readonly #stream: NatsStream;
  readonly #link: NatsLink;
  #expected: Position;
  /** A jump was seen at this sequence: once more from there, before it is believed. */
  #doubted: Position | undefined;
  #consumer: Consumer | undefined;
  #current: AsyncIterator<JsMsg> | undefined;
  #fetches: Promise<ConsumerMessages>[] = [];
  #movedAt = performance.now();
  #reason = "";

  constructor(settings: NatsSettings, stream: NatsStream, first: Position) {
    this.#settings = settings;
    this.#stream = stream;
    this.#link = NatsLink.of(settings.connection);
    this.#expected = first;
  }

  async next(): Promise<StoredMessage> {
    // The caller may have taken its time with the last one.
    this.#movedAt = performance.now();
    for (;;) {
      const message = await this.#tryNext();
      if (message === undefined) continue;
      this.#expected = message.sequence + 1;
      return message;
    }
  }

  async close(): Promise<void> {
    const fetches = this.#fetches.splice(0);
    this.#current = undefined;
    const stops = fetches.map(async (fetch) => (await fetch).stop());
    await Promise.allSettled([...stops, this.#consumer?.delete()]);
    this.#consumer = undefined;
  }

  async #tryNext(): Promise<StoredMessage | undefined> {
    let failure: unknown;
    try {
      const current = this.#current ?? (await this.#begin());
      const { done, value } = await this.#inTime(current.next());
      if (done !== true) return this.#judge(storedOf(value));
      this.#current = undefined;
      this.#fetches.shift();
    } catch (error) {
      failure = error;
    }
    const isStuck = performance.now() - this.#movedAt > REPLAY_WAIT_MS;
    if (failure !== undefined || isStuck) await this.#restart(failure);
    return undefined;
  }

  /**
   * The client does not end a fetch whose server is gone when the connection was made again: it
   * asks for the consumer without end, and has stopped its own timer.
   */
  async #inTime<T>(promise: Promise<T>): Promise<T> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => reject(new errors.TimeoutError());
    const timer = setTimeout(giveUp, FETCH_WAIT_MS);
    const unlink = this.#link.onChange(giveUp);
    try {
      return await Promise.race([promise, lost]);
    } finally {
      clearTimeout(timer);
      unlink();
    }
  }

  async #judge(message: StoredMessage): Promise<StoredMessage | undefined> {
    if (message.sequence === this.#expected || this.#doubted === this.#expected) return message;
    this.#doubted = this.#expected;
    await this.close();
    return undefined;
  }

  async #begin(): Promise<AsyncIterator<JsMsg>> {
    this.#consumer ??= await this.#makeConsumer();
    while (this.#fetches.length < 2) {
      const options = { max_messages: REPLAY_MESSAGES, expires: REPLAY_WAIT_MS };
      const fetch = this.#consumer.fetch(options);
      fetch.catch(() => {});
      this.#fetches.push(fetch);
    }
    this.#current = (await this.#fetches[0]!)[Symbol.asyncIterator]();
    return this.#current;
  }

  async #makeConsumer(): Promise<Consumer> {
    const { manager, name } = this.#stream;
    const isAlone = this.#settings.connection.info?.cluster === undefined;
    for (let tries = 0; tries < LEADER_TRIES; tries++) {
      const [{ cluster }, ...made] = await Promise.all([
        this.#stream.info(),
        ...Array.from({ length: isAlone ? 1 : CONSUMERS_AT_ONCE }, () => this.#addConsumer()),
      ]);
      // A server that is alone names no leader of a consumer, and newer ones name that of a stream.
      const leaderOf = (info: ConsumerInfo): string | undefined =>
        info.cluster?.leader ?? cluster?.leader;
      const ours = made.find((info) => leaderOf(info) === cluster?.leader);
      // Those that cannot be deleted end by themselves.
      for (const info of made) {
        if (info !== ours) manager.consumers.delete(name, info.name).catch(() => {});
      }
      if (ours !== undefined) return manager.jetstream().consumers.getConsumerFromInfo(ours);
    }
    throw new errors.TimeoutError();
  }

  #addConsumer(): Promise<ConsumerInfo> {
    return this.#stream.manager.consumers.add(this.#stream.name, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#expected,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(4 * REPLAY_WAIT_MS),
    });
  }

  async #restart(error: unknown): Promise<void> {
    const isFinal = error !== undefined && !isPassing(error) && this.#link.isClosed;
    if (isFinal) throw toLogError(this.#stream.name, "replaying", error);
    this.#reason = error === undefined ? "nothing more comes" : reasonOf(error);
    if (performance.now() - this.#movedAt > this.#settings.deadlineMs) {
      const reason = this.#link.isUp ? this.#reason : NOT_CONNECTED;
      throw logFailed(this.#stream.name, "replaying", reason, error);
    }
    await this.close();
    await new Promise((resolve) => setTimeout(resolve, NATS_RETRY_MS));
  }
}

function storedOf({ seq: sequence, data, time }: JsMsg): StoredMessage {
  return { sequence, data, storedAt: time.getTime() };
}
