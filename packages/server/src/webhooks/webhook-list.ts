/**
 * The webhooks of a server, in a reserved store on the same log as the jobs. All are in memory:
 * each event is held against them.
 */
import { randomBytes } from "node:crypto";
import {
  type Broker,
  type Clock,
  type PageStart,
  SluiceError,
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
  #records = new Map<string, WebhookRecord>();

  constructor(broker: Broker, clock: Clock) {
    this.#broker = broker;
    this.#clock = clock;
  }

  get all(): readonly WebhookInfo[] {
    return [...this.#records.values()];
  }

  secretOf(id: string): string | undefined {
    return this.#records.get(id)?.secret;
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
    const permit = new Permit(by);
    const denied = asked.queues.find((pattern) => !permit.coversAll("admin", [pattern]));
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

function infoOf({ secret: _, ...info }: WebhookRecord): WebhookInfo {
  return info;
}
