/**
 * The webhooks of a server, in a reserved store on the same log as the jobs. All are in memory:
 * each event is held against them. One whose maker may no longer administer its queues has stopped:
 * it would tell what a revoked key must not know. It works again when the key has its rights back.
 */
import { randomBytes } from "node:crypto";
import {
  type Broker,
  type Clock,
  type PageStart,
  SluiceError,
  toSluiceError,
  walkPages,
  wallTime,
} from "@sluice/protocol";
import { forbidden } from "../keys/grant.ts";
import { Permit } from "../keys/permit.ts";
import type { Principal } from "../keys/principal.ts";
import { WEBHOOKS_STORE } from "../keys/rights.ts";
import { WEBHOOKS_MAX } from "../limits.ts";
import { parseWebhook, type WebhookInfo } from "./webhook.ts";

interface WebhookRecord extends WebhookInfo {
  readonly secret: string;
}

/** Its secret is shown this once. */
export type CreatedWebhook = WebhookRecord;

const SCAN = 1000;
const ID_BYTES = 6;
const SECRET_BYTES = 32;

export class WebhookList {
  readonly #broker: Broker;
  readonly #clock: Clock;
  readonly #holder: (key: string) => Principal;
  #records = new Map<string, WebhookRecord>();

  /** `holder`: what the holder of the key with this id may do now. */
  constructor(broker: Broker, clock: Clock, holder: (key: string) => Principal) {
    this.#broker = broker;
    this.#clock = clock;
    this.#holder = holder;
  }

  get all(): readonly WebhookInfo[] {
    return [...this.#records.values()];
  }

  /** The webhook with its secret; undefined: it was deleted or has stopped. */
  active(id: string): WebhookRecord | undefined {
    const record = this.#records.get(id);
    return record === undefined || this.stopped(record) !== undefined ? undefined : record;
  }

  /** Why it is called no more; undefined: it is called. */
  stopped({ createdBy, queues }: WebhookInfo): string | undefined {
    try {
      const denied = notCovered(this.#holder(createdBy), queues);
      if (denied === undefined) return undefined;
      return `the key that made it, ${createdBy}, no longer has admin on ${denied}`;
    } catch (error) {
      if (toSluiceError(error).code !== "UNAUTHORIZED") throw error;
      return `the key that made it, ${createdBy}, was revoked or has expired`;
    }
  }

  /** Reads all again; another node may have written. */
  async load(): Promise<void> {
    const records = new Map<string, WebhookRecord>();
    const ask = (from: PageStart) =>
      this.#broker.storeScan(WEBHOOKS_STORE, { limit: SCAN, ...from });
    for await (const { key, value } of walkPages(ask)) records.set(key, value as WebhookRecord);
    this.#records = records;
  }

  /** It takes `admin` on all queues that the webhook is about. */
  async create(
    input: unknown,
    by: Principal,
    check: (url: string) => void,
  ): Promise<CreatedWebhook> {
    const asked = parseWebhook(input);
    const denied = notCovered(by, asked.queues);
    if (denied !== undefined) throw forbidden("admin", denied);
    check(asked.url);
    if (this.#records.size >= WEBHOOKS_MAX) {
      const message = `there are ${WEBHOOKS_MAX} webhooks, the maximum; delete some first`;
      throw new SluiceError("LIMIT_REACHED", message);
    }
    const record: WebhookRecord = {
      id: `wh_${randomBytes(ID_BYTES).toString("hex")}`,
      ...asked,
      createdAt: wallTime(this.#clock),
      createdBy: by.id,
      secret: `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`,
    };
    await this.#broker.storeWrite(WEBHOOKS_STORE, [{ key: record.id, value: record }]);
    this.#records.set(record.id, record);
    return record;
  }

  /** Those that the caller could have made. */
  list(by: Principal): WebhookInfo[] {
    const permit = new Permit(by);
    return [...this.#records.values()]
      .filter(({ queues }) => permit.coversAll("admin", queues))
      .map(infoOf);
  }

  /** The webhook, if the caller could have made it. */
  of(id: string, by: Principal): WebhookInfo {
    const found = this.list(by).find((webhook) => webhook.id === id);
    if (found !== undefined) return found;
    throw new SluiceError("NOT_FOUND", `there is no webhook ${id}`, { field: "id", value: id });
  }

  async delete(id: string, by: Principal): Promise<void> {
    this.of(id, by);
    await this.#broker.storeWrite(WEBHOOKS_STORE, [{ key: id, value: undefined }]);
    this.#records.delete(id);
  }
}

/** The first of these patterns on which the caller lacks `admin`. */
function notCovered(by: Principal, queues: readonly string[]): string | undefined {
  const permit = new Permit(by);
  return queues.find((pattern) => !permit.coversAll("admin", [pattern]));
}

function infoOf({ secret: _, ...info }: WebhookRecord): WebhookInfo {
  return info;
}
