/**
 * The ends of jobs, sent to the address that the job was submitted with. The message is a webhook:
 * signed, tried again until it is taken, under the rules for strangers' addresses.
 *
 * An end is durable before its message is. A server that is killed in between sends the message at
 * its next start: it looks through the ended jobs that are kept. Messages have the name of their
 * job, so one that was sent already is not sent again.
 */
import { createHmac, randomBytes } from "node:crypto";
import { type Queue, type Sluice, SluiceError, type Store } from "sluice";
import { Webhooks } from "sluice/webhooks";
import type { Config } from "./config.ts";
import type { JobNews, JobNewsItem } from "./job-news.ts";
import { CALLBACK_DATA_CHARS_MAX } from "./limits.ts";
import type { Log } from "./log.ts";
import { errorOf, nameOf, type Status } from "./status.ts";
import type { Submission } from "./submission.ts";

const QUEUE = "callbacks";
const FIELD = "callback_url";
const SECRET_NAME = "callback-secret";
const SECRET_BYTES = 32;
const ENDED = ["finished", "failed", "cancelled", "expired"] as const;
const RUNNING: readonly Status[] = ["queued", "running"];

export interface CallbackParts {
  readonly config: Config;
  readonly sluice: Sluice;
  readonly queue: Queue<Submission, unknown>;
  readonly store: Store<string>;
  readonly uidOf: (id: string) => string;
  readonly log: Log;
}

type End = Omit<JobNewsItem, "tier">;

export class Callbacks {
  readonly #parts: CallbackParts;
  readonly #secret: Buffer;
  #webhooks!: Webhooks;

  private constructor(parts: CallbackParts, secret: Buffer) {
    this.#parts = parts;
    this.#secret = secret;
  }

  static async open(parts: CallbackParts, news: JobNews): Promise<Callbacks> {
    const callbacks = new Callbacks(parts, await secretIn(parts.store));
    const hosts = new Set(parts.config.callbackHosts);
    callbacks.#webhooks = await Webhooks.open(parts.sluice, {
      queue: QUEUE,
      secretOf: (signer) => callbacks.secretOf(signer),
      chooser: ({ host }) => (hosts.has(host) ? "operator" : "stranger"),
    });
    await callbacks.#sendLeft();
    news.listen((item) => {
      if (item.submission.callback !== undefined && !RUNNING.includes(item.status)) {
        callbacks.#send(item).catch((error: Error) => callbacks.#lost(item.id, error));
      }
    });
    return callbacks;
  }

  /** What the messages of a submitter are signed with; empty: of those without a name. */
  secretOf(workerId: string): string {
    const key = createHmac("sha256", this.#secret).update(workerId).digest("base64");
    return `whsec_${key}`;
  }

  /** Refuses an address that is never called, by the name of the submitter's field. */
  check(url: string): void {
    try {
      this.#webhooks.check(url);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      const message = error.message.replace("the webhook's url", FIELD);
      throw new SluiceError(error.code, message, { field: FIELD, value: url });
    }
  }

  async close(timeout: number): Promise<void> {
    await this.#webhooks.close({ timeout });
  }

  async #send({ id, submission, status, at, addedAt, data = null, error }: End): Promise<void> {
    const { uidOf, config } = this.#parts;
    const uid = uidOf(id);
    const isLarge = (JSON.stringify(data)?.length ?? 0) > CALLBACK_DATA_CHARS_MAX;
    await this.#webhooks.send({
      url: submission.callback!,
      type: `job.${status}`,
      signer: submission.workerId ?? "",
      id: `job-${uid}`,
      repeats: config.results.ms,
      data: {
        uid,
        type: submission.type,
        worker_id: submission.workerId ?? null,
        status,
        // What is too large to send can be asked for.
        ...(isLarge ? { data: null, is_data_omitted: true } : { data }),
        error: error ?? null,
        queued_at: new Date(addedAt).toISOString(),
        finished_at: new Date(at).toISOString(),
      },
    });
  }

  async #sendLeft(): Promise<void> {
    for (const state of ENDED) {
      for await (const job of this.#parts.queue.jobs({ state })) {
        if (job.payload.callback === undefined) continue;
        const { id, payload: submission, addedAt, at = addedAt, result: data } = job;
        const error = errorOf(job);
        const end = { id, submission, status: nameOf(job), at, addedAt, data };
        await this.#send(error === undefined ? end : { ...end, error }).catch((reason: Error) =>
          this.#lost(id, reason),
        );
      }
    }
  }

  #lost(id: string, { message }: Error): void {
    this.#parts.log.error(`the callback of job ${this.#parts.uidOf(id)} is not sent: ${message}`);
  }
}

async function secretIn(store: Store<string>): Promise<Buffer> {
  const kept = await store.get(SECRET_NAME);
  if (kept !== undefined) return Buffer.from(kept, "base64url");
  const secret = randomBytes(SECRET_BYTES);
  await store.put(SECRET_NAME, secret.toString("base64url"));
  return secret;
}
