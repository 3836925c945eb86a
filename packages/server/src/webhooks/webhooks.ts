/**
 * Sends what happens to the webhooks that want it. A message is stored as a job of a queue of its
 * own, and delivered from there.
 *
 *   idle      there is no webhook, and the broker's events are not read
 *   sending   events are read, and a message is stored for each webhook that wants one
 *   behind    events were missed: the server was down, the reader was cut off, or a message was not
 *             stored. Ends of jobs since the last note are looked up and sent; messages have the
 *             name of what happened, so none is sent twice. Then: sending
 *
 * Ends and deaths of jobs are sent at least once for as long as the jobs are kept. Other events are
 * sent while the server runs. What finds no room in the queue, because too many messages of the
 * webhook wait, is dropped and counted: waiting for room would hold up the other webhooks.
 */
import { hash } from "node:crypto";
import {
  type Broker,
  type BrokerEvent,
  type Clock,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import { every } from "../every.ts";
import type { Principal } from "../keys/principal.ts";
import { WEBHOOKS_SENT_STORE } from "../keys/rights.ts";
import { WEBHOOK_NOTE_MS, WEBHOOK_SENDS_MAX } from "../limits.ts";
import { DroppedMessages } from "./dropped.ts";
import { endsSince } from "./missed.ts";
import type { OpenWebhookSender, WebhookSender } from "./sender.ts";
import { type ListedWebhook, type WebhookInfo, wants } from "./webhook.ts";
import { type CreatedWebhook, WebhookList } from "./webhook-list.ts";

export interface WebhooksOptions {
  /** Resolves when the broker is open. */
  readonly broker: Promise<Broker>;
  readonly clock: Clock;
  /** Absent: this server sends none. */
  readonly open: OpenWebhookSender | undefined;
  readonly closing: AbortSignal;
  /** What the holder of the key with this id may do now. */
  readonly holder: (key: string) => Principal;
  readonly onTrouble: (message: string) => void;
}

const SENT_KEY = "until";

/** Longer names are hashed: a dedupe key has 255 characters at most. */
const NAME_CHARS_MAX = 200;

/** What is running, once there is a webhook. */
interface Parts {
  readonly broker: Broker;
  readonly list: WebhookList;
  readonly dropped: DroppedMessages;
}

export class EventWebhooks {
  readonly #options: WebhooksOptions;
  readonly #parts: Promise<Parts> | undefined;
  readonly #storing = new Set<Promise<void>>();
  #sender: Promise<WebhookSender> | undefined;
  #events: AsyncIterableIterator<BrokerEvent> | undefined;
  #reading: Promise<void> | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** All up to here is stored once `#storing` is. */
  #seenAt = 0;
  #notedAt = 0;
  #isBehind = true;

  constructor(options: WebhooksOptions) {
    this.#options = options;
    const { open, closing, clock } = options;
    if (open === undefined) return;
    this.#parts = this.#load();
    this.#parts.catch(() => {});
    const stop = every(clock, WEBHOOK_NOTE_MS, () => this.#look().catch(() => undefined));
    closing.addEventListener("abort", stop, { once: true });
  }

  async #load(): Promise<Parts> {
    const broker = await this.#options.broker;
    const list = new WebhookList(broker, this.#options.clock, this.#options.holder);
    await list.load();
    const parts = { broker, list, dropped: await DroppedMessages.load(broker) };
    if (list.all.length > 0) this.#start(parts);
    return parts;
  }

  async list(by: Principal): Promise<readonly ListedWebhook[]> {
    const { list, dropped } = await this.#opened();
    return list.list(by).map((webhook) => {
      const stopped = list.stopped(webhook);
      const lost = dropped.of(webhook.id);
      return {
        ...webhook,
        ...(stopped === undefined ? {} : { stopped }),
        ...(lost === undefined ? {} : { dropped: lost }),
      };
    });
  }

  async create(input: unknown, by: Principal): Promise<CreatedWebhook> {
    const parts = await this.#opened();
    const sender = await this.#openSender(parts);
    const created = await parts.list.create(input, by, (url) => sender.check(url));
    await this.#restart(parts);
    return created;
  }

  async delete(id: string, by: Principal): Promise<void> {
    await (await this.#opened()).list.delete(id, by);
  }

  /** Sends a message that means nothing; answers the id of its job. */
  async test(id: string, by: Principal): Promise<string> {
    const parts = await this.#opened();
    const webhook = parts.list.of(id, by);
    const stopped = parts.list.stopped(webhook);
    if (stopped !== undefined) throw new SluiceError("CONFLICT", `webhook ${id}: ${stopped}`);
    const sender = await this.#openSender(parts);
    const at = Date.now();
    const { url } = webhook;
    return sender.send({ url, signer: id, type: "test", data: { at }, id: `${id}.test.${at}` });
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#events?.return?.();
    await this.#reading;
    const parts = await this.#parts?.catch(() => undefined);
    if (parts !== undefined) await this.#note(parts).catch(() => undefined);
    await (await this.#sender?.catch(() => undefined))?.close();
  }

  #opened(): Promise<Parts> {
    if (this.#parts !== undefined) return this.#parts;
    throw new SluiceError("CONFLICT", "this server sends no webhooks; use `sluice serve`");
  }

  #openSender({ broker, list }: Parts): Promise<WebhookSender> {
    this.#sender ??= this.#options.open!(broker, (id) => list.active(id));
    return this.#sender;
  }

  /** Events are asked for by their names, so a new webhook may want others. One at a time. */
  #restart(parts: Parts): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await this.#events?.return?.();
      await this.#reading;
      this.#start(parts);
    });
    return this.#turn;
  }

  #start(parts: Parts): void {
    if (this.#options.closing.aborted) return;
    const names = new Set(parts.list.all.flatMap(({ events }) => events));
    const events = parts.broker.events({ events: [...names] });
    this.#events = events;
    this.#reading = this.#read(parts, events).catch((error: Error) => {
      this.#isBehind = true;
      this.#events = undefined;
      if (!this.#options.closing.aborted) this.#trouble("events are not read", error);
    });
  }

  async #read(parts: Parts, events: AsyncIterableIterator<BrokerEvent>): Promise<void> {
    const sender = await this.#openSender(parts);
    if (this.#isBehind) await this.#sendMissed(parts, sender);
    for await (const event of events) await this.#take(parts, sender, event);
  }

  async #sendMissed(parts: Parts, sender: WebhookSender): Promise<void> {
    const { broker, list } = parts;
    this.#isBehind = false;
    const [noted] = await broker.storeGet(WEBHOOKS_SENT_STORE, [SENT_KEY]);
    const created = list.all.map(({ createdAt }) => createdAt);
    const since = (noted as number | undefined) ?? Math.min(...created);
    for await (const page of endsSince(broker, Math.max(since, this.#notedAt))) {
      for (const event of page) await this.#take(parts, sender, event, true);
    }
  }

  async #take(
    parts: Parts,
    sender: WebhookSender,
    event: BrokerEvent,
    isMissed = false,
  ): Promise<void> {
    if (this.#storing.size >= WEBHOOK_SENDS_MAX) await Promise.race(this.#storing);
    const { list } = parts;
    for (const webhook of isOwn(sender, event) ? [] : list.all) {
      // What happened before it was made is not for it.
      if (!wants(webhook, event) || (isMissed && event.at < webhook.createdAt)) continue;
      if (list.stopped(webhook) === undefined) this.#store(parts, sender, webhook, event);
    }
    this.#seenAt = Math.max(this.#seenAt, event.at);
  }

  #store(
    { dropped }: Parts,
    sender: WebhookSender,
    { id: signer, url }: WebhookInfo,
    event: BrokerEvent,
  ): void {
    const message = {
      url,
      signer,
      type: event.event,
      data: dataOf(event),
      id: nameOf(signer, event),
    };
    const storing = sender.send(message).then(
      () => undefined,
      (error: Error) => {
        if (toSluiceError(error).code === "QUEUE_FULL") return dropped.add(signer, event.at);
        // The ends of jobs are looked up again.
        this.#isBehind = true;
        this.#trouble(`${event.event} is not sent to ${signer}`, error);
      },
    );
    this.#storing.add(storing);
    void storing.then(() => this.#storing.delete(storing));
  }

  /** Every few seconds: notes how far it is, reads what other nodes made, and catches up. */
  async #look(): Promise<void> {
    const parts = await this.#opened();
    const before = parts.list.all.length;
    await parts.list.load();
    if (parts.list.all.length === 0) return;
    if (this.#isBehind || this.#events === undefined || parts.list.all.length > before) {
      return this.#restart(parts);
    }
    await this.#note(parts);
  }

  /** Notes up to when all is stored. */
  async #note({ broker, list, dropped }: Parts): Promise<void> {
    const until = this.#seenAt;
    await Promise.all(this.#storing);
    await dropped.save(new Set(list.all.map(({ id }) => id)));
    if (this.#isBehind || until <= this.#notedAt) return;
    this.#notedAt = until;
    await broker.storeWrite(WEBHOOKS_SENT_STORE, [{ key: SENT_KEY, value: this.#notedAt }]);
  }

  #trouble(what: string, { message }: Error): void {
    this.#options.onTrouble(`webhooks: ${what}: ${message}`);
  }
}

/** What happens to the messages themselves would never end. */
function isOwn({ queue }: WebhookSender, event: BrokerEvent): boolean {
  return "queue" in event && (event.queue === queue || event.queue === `${queue}.dlq`);
}

/** Results are left out: they may be large, and can be asked for. */
function dataOf(event: BrokerEvent): object {
  if (event.event !== "ended") return event;
  const { result: _, ...data } = event;
  return data;
}

/** The same for the event and for what is looked up of it later, at every node of a cluster. */
function nameOf(webhook: string, { event, at, ...rest }: BrokerEvent): string {
  const { id, queue, gate, schedule, tick, name } = rest as Record<string, unknown>;
  const what = id ?? [queue, gate, schedule, tick].filter((part) => part !== undefined).join("/");
  const text = [webhook, event, what, name, at].filter((part) => part !== undefined).join(".");
  return text.length <= NAME_CHARS_MAX ? text : `${webhook}.${hash("sha256", text, "base64url")}`;
}
