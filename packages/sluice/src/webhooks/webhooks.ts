/**
 * Webhooks: messages to addresses of others, through a queue of Sluice. A message is durable when
 * `send` resolves, signed, and delivered at least once; a receiver knows a repeated one by its id.
 * One that is refused is tried again with a growing delay, and is a dead letter in the end. Each
 * host has a gate, so that a slow receiver holds up no other; `Retry-After` cools that gate down.
 * Each receiver, which is a signer's host, has another gate, with pauses that grow while it fails.
 * Meanwhile its messages wait; beyond `perSigner` of them `send` refuses with QUEUE_FULL.
 *
 * Addresses are strangers' unless `chooser` says that the operator vouches for one: they must be
 * public, and redirects are not followed.
 */
import { hash, randomUUID } from "node:crypto";
import type { LookupFunction } from "node:net";
import {
  type Job,
  type Queue,
  RetryAfter,
  type SluiceHandles,
  Unrecoverable,
  type Worker,
  type WorkJob,
} from "@sluice/client";
import { type Duration, SluiceError } from "@sluice/protocol";
import {
  STRANGERS_PORTS,
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_LADDER,
  WEBHOOK_RETENTION,
  WEBHOOK_RETRY,
  WEBHOOK_TTL,
  WEBHOOK_URL_CHARS_MAX,
  WEBHOOKS_AT_ONCE,
  WEBHOOKS_PER_HOST,
  WEBHOOKS_PER_SIGNER,
} from "../limits.ts";
import { callOutside, type OutgoingAnswer } from "../outgoing/call.ts";
import { OutgoingError } from "../outgoing/errors.ts";
import { type Chooser, checkTarget, parseTarget } from "../outgoing/target.ts";
import { isSealed, sealWebhook, signWebhook } from "./signature.ts";

export interface WebhookOptions {
  /** The secret that messages of this signer are signed with. */
  secretOf: (signer: string) => string | Promise<string>;
  /**
   * Where the messages of a signer go, asked at each delivery. Messages then wait without their
   * address, which may hold a secret, and those who may read the queue do not see it.
   */
  urlOf?: ((signer: string) => string) | undefined;
  /**
   * Deliver only messages that `send` made, unchanged, though others may add to the queue. The
   * secret of a signer must then stay the same while its messages wait. Default false.
   */
  sealed?: boolean | undefined;
  /** Where messages wait. Default `webhooks`. */
  queue?: string | undefined;
  /** Who chose an address. Default: a stranger, so it must be public. */
  chooser?: ((url: URL) => Chooser) | undefined;
  /** Messages on their way at once, in all and to one host. Default 16 and 4. */
  concurrency?: number | undefined;
  perHost?: number | undefined;
  /** Messages of one signer that wait. Default 10,000. */
  perSigner?: number | undefined;
  /** For one attempt. Default 10 s. */
  timeout?: Duration | undefined;
  /** Ports of strangers' addresses. Default 80 and 443. */
  ports?: readonly number[] | undefined;
  /** How names become addresses; the system's, unless a test has its own. */
  lookup?: LookupFunction | undefined;
}

export interface Webhook {
  url: string;
  /** What has happened, such as `job.finished`. */
  type: string;
  data: unknown;
  /** Whose secret signs it; messages of different signers are delivered in turns. */
  signer: string;
  /** A message with the same id, within `repeats`, is the same one and is not sent again. */
  id?: string | undefined;
  repeats?: Duration | undefined;
}

/** As it waits in the queue. */
interface Message {
  readonly id: string;
  /** Absent: its signer's. */
  readonly url?: string;
  readonly type: string;
  readonly data: unknown;
  readonly signer: string;
  readonly at: number;
  readonly seal?: string;
}

export class Webhooks implements AsyncDisposable {
  readonly #options: WebhookOptions;
  readonly #queue: Queue<Message, number>;
  readonly #worker: Worker<Message, number>;

  private constructor(options: WebhookOptions, queue: Queue<Message, number>) {
    this.#options = options;
    this.#queue = queue;
    const { concurrency = WEBHOOKS_AT_ONCE } = options;
    this.#worker = queue.work((job, { signal }) => this.#deliver(job, signal), { concurrency });
  }

  /** Delivers what waits, also from before a restart. */
  static async open(sluice: SluiceHandles, options: WebhookOptions): Promise<Webhooks> {
    const { queue: name = "webhooks", perHost = WEBHOOKS_PER_HOST } = options;
    const { perSigner: perLane = WEBHOOKS_PER_SIGNER } = options;
    await sluice.gate(`${name}:*`).set({ concurrency: perHost });
    await sluice.gate(`${name}.receiver:*`).set({ ladder: WEBHOOK_LADDER });
    await sluice.queue(`${name}.dlq`, { retention: WEBHOOK_RETENTION });
    const bounds = { retry: WEBHOOK_RETRY, capacity: { perLane } };
    return new Webhooks(options, await sluice.queue<Message, number>(name, bounds));
  }

  /**
   * Resolves when the message is durable. Refuses an address that is never called, and with
   * QUEUE_FULL when too many messages of the signer wait.
   */
  async send(webhook: Webhook): Promise<Job<Message, number>> {
    const { type, data, signer, id = randomUUID(), repeats } = webhook;
    const url = this.check(webhook.url);
    const to = this.#options.urlOf === undefined ? { url: url.href } : {};
    const bare: Message = { id, ...to, type, data, signer, at: Date.now() };
    const message = this.#options.sealed === true ? await this.#seal(bare) : bare;
    return this.#queue.add(message, {
      fairnessKey: signer,
      gates: [this.#gateOf(url), this.#receiverOf(url, signer)],
      ttl: WEBHOOK_TTL,
      ...(repeats === undefined ? {} : { dedupe: { key: id, mode: "window", window: repeats } }),
    });
  }

  async #seal(message: Message): Promise<Message> {
    const secret = await this.#options.secretOf(message.signer);
    return { ...message, seal: sealWebhook(sealedText(message), secret) };
  }

  /** The address, when it is one that may be called; names are looked up at each delivery. */
  check(address: unknown): URL {
    if (typeof address !== "string" || address.length > WEBHOOK_URL_CHARS_MAX) {
      throw invalid(`must be an address of at most ${WEBHOOK_URL_CHARS_MAX} characters`);
    }
    const { chooser = () => "stranger" as const, ports = STRANGERS_PORTS } = this.#options;
    try {
      const url = parseTarget(address);
      checkTarget(url, chooser(url), ports);
      return url;
    } catch (error) {
      throw error instanceof OutgoingError ? invalid(`is refused: ${error.message}`) : error;
    }
  }

  async close(options: { timeout?: Duration } = {}): Promise<void> {
    await this.#worker.close(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #gateOf(url: URL): string {
    return `${this.#queue.name}:${hostOf(url)}`.slice(0, 255);
  }

  /** Of each signer, so that none closes the gate of others who send to the same host. */
  #receiverOf(url: URL, signer: string): string {
    const who = PLAIN_NAME.test(signer) ? signer : hash("sha256", signer, "base64url");
    return `${this.#queue.name}.receiver:${who}:${hostOf(url)}`.slice(0, 255);
  }

  async #deliver({ payload }: WorkJob<Message>, signal: AbortSignal): Promise<number> {
    const { id, type, data, at, signer } = payload;
    const secret = await this.#options.secretOf(signer);
    if (this.#options.sealed === true && !isSealed(payload.seal, sealedText(payload), secret)) {
      throw new Unrecoverable("the message was not made by this server, or was changed");
    }
    const url = new URL(this.#options.urlOf?.(signer) ?? payload.url ?? "");
    const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      "content-type": "application/json",
      "user-agent": "sluice-webhooks",
      ...signWebhook({ id, timestamp, body }, secret),
    };
    return this.#judge(url, await this.#call(url, body, headers, signal));
  }

  async #call(
    url: URL,
    body: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<OutgoingAnswer> {
    const { chooser = () => "stranger" as const, timeout = "10s", ports, lookup } = this.#options;
    try {
      return await callOutside(url, {
        chooser: chooser(url),
        method: "POST",
        headers,
        body,
        timeout,
        bytesMax: WEBHOOK_ANSWER_BYTES_MAX,
        redirectsMax: 0,
        ports,
        lookup,
        signal,
      });
    } catch (error) {
      const isForbidden = error instanceof OutgoingError && error.reason === "address";
      throw isForbidden ? new Unrecoverable(error.message) : error;
    }
  }

  /** 2xx is delivered, 410 is never to be called again, all else is tried again. */
  #judge(url: URL, { status, headers }: OutgoingAnswer): number {
    if (status >= 200 && status < 300) return status;
    if (status === 410) throw new Unrecoverable("the receiver is gone (HTTP 410)");
    const isBusy = status === 429 || status === 503;
    if (isBusy && headers["retry-after"] !== undefined) {
      const reason = `HTTP ${status}`;
      throw RetryAfter.fromHeader(headers["retry-after"], { gate: this.#gateOf(url), reason });
    }
    throw new Error(`the receiver answered HTTP ${status}`);
  }
}

const PLAIN_NAME = /^[\w.-]{1,64}$/;

function hostOf({ host }: URL): string {
  return host.replace(/[^A-Za-z0-9.:-]/g, "");
}

function sealedText({ id, url, type, data, signer, at }: Message): string {
  return JSON.stringify([id, url, type, data, signer, at]);
}

function invalid(problem: string): SluiceError {
  return new SluiceError("INVALID", `the webhook's url ${problem}`, { field: "url" });
}
