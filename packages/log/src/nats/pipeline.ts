import {
  createInbox,
  headers,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import type { SluiceError } from "@sluice/protocol";
import { IN_FLIGHT_MAX, NATS_RETRY_MS, NATS_RETRY_MS_MAX } from "../limits.ts";
import type { Position } from "../log.ts";
import { isPassingAnswer, logFailed, NO_ANSWER, NO_LEADER, NOT_CONNECTED } from "./errors.ts";
import { NatsLink } from "./nats-link.ts";
import type { NatsStream } from "./nats-stream.ts";
import type { NatsSettings } from "./options.ts";

/** The second one while another message is on its way (servers since 2.11). */
const WRONG_SEQUENCE: readonly number[] = [10_071, 10_164];

interface Outgoing {
  readonly sequence: Position;
  readonly bytes: Uint8Array;
  /** Told when it and all before it are stored, or never will be. */
  readonly waiter: Waiter | undefined;
  isStored: boolean;
  isRefused: boolean;
}

export interface Waiter {
  resolve(): void;
  reject(error: SluiceError): void;
}

/** What the server answers to a message. */
interface Answer {
  readonly seq?: number;
  readonly error?: { code: number; err_code: number; description: string };
}

/**
 * The one writer of a stream. A message gets its sequence when it is put here, and is sent with the
 * sequence that it must follow; so what is stored is stored in order, once, or not at all.
 *
 *   flowing    up to IN_FLIGHT_MAX messages are on their way; answers may come in any order, and
 *              a message counts as stored when all before it are
 *   resting    something was not answered, or the server had no leader: after a moment all that is
 *              not stored is sent again, in order, under the same ids
 *   asking     the oldest message was refused because another one is in its place: if that one
 *              is ours, it was stored by an attempt whose answer was lost; else another owner has
 *              fenced us
 *   failed     nothing was stored until the deadline, or another owner has fenced us; nothing is
 *              sent any more
 *
 * Each round of sending has a number, so that a refusal of an earlier round is not taken for one of
 * this: there a message is refused for the gap that a lost one before it has left.
 */
export class Pipeline {
  readonly failed: Promise<SluiceError>;
  readonly #settings: NatsSettings;
  readonly #stream: NatsStream;
  readonly #link: NatsLink;
  readonly #owner: string;
  readonly #inbox: string;
  readonly #answers: Subscription;
  readonly #unlink: () => void;
  #state: "flowing" | "resting" | "asking" | "failed" = "flowing";
  /** Not yet stored, the oldest first; the first `#sent` of them are on their way. */
  readonly #queue: Outgoing[] = [];
  #sent = 0;
  #round = 0;
  #attempts = 0;
  #next: Position;
  #reason = NO_ANSWER;
  #error: SluiceError | undefined;
  #tellFailed!: (error: SluiceError) => void;
  #timer: NodeJS.Timeout | undefined;
  #isSendingSoon = false;
  /** When something was stored last, or the queue was empty, and when the round began. */
  #storedAt = 0;
  #sentAt = 0;
  readonly #onEmpty: (() => void)[] = [];

  constructor(settings: NatsSettings, stream: NatsStream, owner: string, last: Position) {
    this.#settings = settings;
    this.#stream = stream;
    this.#owner = owner;
    this.#next = last + 1;
    this.failed = new Promise((resolve) => {
      this.#tellFailed = resolve;
    });
    this.#link = NatsLink.of(settings.connection);
    this.#inbox = inboxOf(settings.connection);
    this.#answers = settings.connection.subscribe(`${this.#inbox}.*.*`, {
      callback: (error, message) => {
        if (error === null) this.#onAnswer(message);
      },
    });
    this.#unlink = this.#link.onChange(() => this.#onLink());
  }

  /** The sequence of the next message that is put here. */
  get next(): Position {
    return this.#next;
  }

  get error(): SluiceError | undefined {
    return this.#error;
  }

  /** The bytes must not change until they are stored. */
  put(bytes: Uint8Array, waiter?: Waiter): void {
    if (this.#error !== undefined) throw this.#error;
    if (this.#queue.length === 0) this.#storedAt = performance.now();
    const sequence = this.#next++;
    this.#queue.push({ sequence, bytes, waiter, isStored: false, isRefused: false });
    this.#sendSoon();
  }

  /** Resolves when nothing waits to be stored, or the pipeline has failed. */
  async settled(): Promise<void> {
    if (this.#queue.length === 0) return;
    await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unlink();
    this.#answers.unsubscribe();
  }

  /** Ends everything with this error, or with the one that did so before: answers which. */
  fail(error: SluiceError): SluiceError {
    if (this.#error !== undefined) return this.#error;
    this.#state = "failed";
    this.#error = error;
    const queue = this.#queue.splice(0);
    this.close();
    this.#tellFailed(error);
    for (const { waiter } of queue) waiter?.reject(error);
    this.#tellEmpty();
    return error;
  }

  /** What is put in one turn goes out together. */
  #sendSoon(): void {
    if (this.#isSendingSoon) return;
    this.#isSendingSoon = true;
    queueMicrotask(() => {
      this.#isSendingSoon = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#state !== "flowing") return;
    if (this.#link.isClosed) return void this.#fail("the connection to NATS is closed");
    if (this.#queue.length > 0) this.#timer ??= setTimeout(this.#onTimer, this.#waitMs());
    if (!this.#link.isUp) return;
    const window = Math.min(this.#queue.length, IN_FLIGHT_MAX);
    if (this.#sent === 0) this.#sentAt = performance.now();
    try {
      for (; this.#sent < window; this.#sent++) this.#sendOne(this.#queue[this.#sent]!);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error), error);
    }
  }

  #sendOne({ sequence, bytes }: Outgoing): void {
    const { connection, subject, stream } = this.#settings;
    const head = headers();
    head.set("Nats-Expected-Stream", stream);
    head.set("Nats-Expected-Last-Sequence", String(sequence - 1));
    head.set("Nats-Msg-Id", `${this.#owner}.${sequence}`);
    const reply = `${this.#inbox}.${this.#round}.${sequence}`;
    connection.publish(subject, bytes, { headers: head, reply });
  }

  #onAnswer(message: Msg): void {
    const [round, sequence] = message.subject.split(".").slice(-2).map(Number);
    const first = this.#queue[0]?.sequence;
    if (first === undefined || sequence === undefined || sequence < first) return;
    const outgoing = this.#queue[sequence - first];
    if (outgoing === undefined) return;
    const answer = readAnswer(message);
    if (answer.error === undefined) return this.#onStored(outgoing, answer.seq);
    if (round !== this.#round || this.#state !== "flowing") return;
    this.#onRefused(outgoing, answer.error);
  }

  #onStored(outgoing: Outgoing, sequence: number | undefined): void {
    if (sequence !== outgoing.sequence) {
      const wanted = `in place of ${outgoing.sequence}`;
      return void this.#fail(`the server has stored a message at ${sequence} ${wanted}`);
    }
    outgoing.isStored = true;
    if (this.#queue[0]?.isStored) this.#advance();
  }

  #onRefused(outgoing: Outgoing, error: NonNullable<Answer["error"]>): void {
    if (WRONG_SEQUENCE.includes(error.err_code)) {
      outgoing.isRefused = true;
      if (outgoing === this.#queue[0]) void this.#ask(outgoing);
    } else if (isPassingAnswer(error)) this.#rest(error.description);
    else this.#fail(error.description);
  }

  /** The oldest ones are stored: their callers are answered, and others take their place. */
  #advance(): void {
    const count = this.#queue.findIndex(({ isStored }) => !isStored);
    const stored = this.#queue.splice(0, count === -1 ? this.#queue.length : count);
    this.#sent = Math.max(0, this.#sent - stored.length);
    this.#attempts = 0;
    this.#storedAt = performance.now();
    this.#sentAt = this.#storedAt;
    for (const { waiter } of stored) waiter?.resolve();
    if (this.#queue.length === 0) return this.#tellEmpty();
    const oldest = this.#queue[0]!;
    if (this.#state === "flowing" && oldest.isRefused) void this.#ask(oldest);
    else this.#send();
  }

  /** With nothing to send again there is nothing to rest for or to ask: what comes next flows. */
  #tellEmpty(): void {
    if (this.#state !== "failed") this.#state = "flowing";
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  /** Which message is in the place of the oldest? */
  async #ask(oldest: Outgoing): Promise<void> {
    this.#state = "asking";
    let found: Uint8Array | undefined;
    try {
      found = await this.#stream.readFromLeader(oldest.sequence);
    } catch {
      if (this.#state === "asking") this.#rest(NO_ANSWER);
      return;
    }
    if (this.#state !== "asking") return;
    if (found === undefined) return this.#rest("the stream is behind what it has confirmed");
    if (Buffer.compare(found, oldest.bytes) !== 0) {
      const error = logFailed(this.#stream.name, "appending", "another owner has taken over");
      error.details.isTaken = true;
      return void this.fail(error);
    }
    this.#onStored(oldest, oldest.sequence);
    // What came behind it was refused too, or will be.
    this.#state = "flowing";
    this.#again();
  }

  /** All that is not stored is sent again after a moment; a longer one each time. */
  #rest(reason: string): void {
    this.#reason = reason;
    this.#state = "resting";
    clearTimeout(this.#timer);
    const pauseMs = Math.min(NATS_RETRY_MS * 2 ** this.#attempts++, NATS_RETRY_MS_MAX);
    const leftMs = this.#storedAt + this.#settings.deadlineMs - performance.now();
    this.#timer = setTimeout(this.#onTimer, Math.max(0, Math.min(pauseMs, leftMs)));
  }

  #again(): void {
    if (this.#state === "failed") return;
    this.#state = "flowing";
    this.#round++;
    this.#sent = 0;
    for (const outgoing of this.#queue) outgoing.isRefused = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#send();
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    if (this.#queue.length === 0 || this.#state === "failed") return;
    const now = performance.now();
    if (now - this.#storedAt >= this.#settings.deadlineMs) return this.#failLate();
    if (this.#state === "resting") return this.#again();
    const isDue = this.#link.isUp && now - this.#sentAt >= this.#settings.ackWaitMs;
    if (isDue && this.#state === "flowing") {
      this.#reason = NO_ANSWER;
      return this.#again();
    }
    this.#timer = setTimeout(this.#onTimer, this.#waitMs());
  };

  /** Until the round has waited long enough for its answers, or everything for too long. */
  #waitMs(): number {
    const { ackWaitMs, deadlineMs } = this.#settings;
    const now = performance.now();
    const roundMs = this.#sentAt + ackWaitMs - now;
    const leftMs = this.#storedAt + deadlineMs - now;
    return Math.max(1, Math.min(roundMs > 0 ? roundMs : ackWaitMs, leftMs));
  }

  #onLink(): void {
    if (this.#link.isClosed) return void this.#fail("the connection to NATS is closed");
    if (this.#link.isUp && this.#queue.length > 0 && this.#state !== "asking") this.#again();
  }

  #failLate(): void {
    const { deadlineMs } = this.#settings;
    const reason = this.#link.isUp ? this.#reason : NOT_CONNECTED;
    this.#fail(`nothing was confirmed for ${deadlineMs} ms: ${reason}`);
  }

  #fail(reason: string, cause?: unknown): SluiceError {
    return this.fail(logFailed(this.#settings.stream, "appending", reason, cause));
  }
}

/** Below the prefix that the connection may listen to, which its type does not tell. */
function inboxOf(connection: NatsConnection): string {
  const { options } = connection as { options?: { inboxPrefix?: string } };
  return createInbox(options?.inboxPrefix);
}

function readAnswer(message: Msg): Answer {
  if (message.headers?.code === 503) {
    return { error: { code: 503, err_code: 0, description: NO_LEADER } };
  }
  try {
    return message.json<Answer>();
  } catch {
    return { error: { code: 503, err_code: 0, description: "an answer that cannot be read" } };
  }
}
