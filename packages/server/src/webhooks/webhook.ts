/** A webhook: an address that is called when something happens, and what has to happen. */
import {
  type BrokerEvent,
  EVENT_NAMES,
  invalid,
  isObject,
  isPattern,
  knownFields,
  matchesPattern,
} from "@sluice/protocol";
import { KEY_NAME_CHARS_MAX, WEBHOOK_QUEUES_MAX, WEBHOOK_URL_CHARS_MAX } from "../limits.ts";

type EventName = BrokerEvent["event"];

export const END_STATES = ["finished", "failed", "cancelled", "expired"] as const;
export type EndState = (typeof END_STATES)[number];

export interface NewWebhook {
  url: string;
  name: string;
  events: readonly EventName[];
  /** Names of queues, or prefixes that end in `*`. */
  queues: readonly string[];
  /** Of jobs that `ended`, only those that ended so; absent: all. */
  states?: readonly EndState[];
}

/** A webhook without its secret. */
export interface WebhookInfo extends NewWebhook {
  id: string;
  createdAt: number;
  /** The id of the key that made it. */
  createdBy: string;
}

/** How a webhook is doing. */
export interface ListedWebhook extends WebhookInfo {
  /** Why it is not called any more: the key that made it has lost its rights. */
  stopped?: string;
  /** Messages that were dropped because too many of its messages waited, and the last one. */
  dropped?: Dropped;
}

export interface Dropped {
  count: number;
  lastAt: number;
}

const KNOWN = ["url", "name", "events", "queues", "states"] as const;

export function parseWebhook(input: unknown): NewWebhook {
  if (!isObject(input)) throw invalid("webhook", "an object", input);
  knownFields("webhook", input, KNOWN);
  const { url, name = "", events = ["dead"], queues = ["*"], states } = input;
  if (typeof url !== "string" || url.length > WEBHOOK_URL_CHARS_MAX || !/^https?:/.test(url)) {
    throw invalid("url", "an address that begins with https:// or http://", url);
  }
  if (typeof name !== "string" || name.length > KEY_NAME_CHARS_MAX) {
    throw invalid("name", `a text of at most ${KEY_NAME_CHARS_MAX} characters`, name);
  }
  if (!isList(queues, WEBHOOK_QUEUES_MAX) || !queues.every(isPattern)) {
    const wanted = `a list of at most ${WEBHOOK_QUEUES_MAX} queues, prefixes that end in "*", or "*"`;
    throw invalid("queues", wanted, queues);
  }
  const known = parseNames("events", events, EVENT_NAMES);
  const webhook: NewWebhook = { url, name, events: known, queues: queues as string[] };
  if (states === undefined) return webhook;
  return { ...webhook, states: parseNames("states", states, END_STATES) };
}

function parseNames<T extends string>(field: string, value: unknown, names: readonly T[]): T[] {
  const isKnown = (one: unknown): boolean => names.some((name) => name === one);
  if (isList(value, names.length) && value.every(isKnown)) return value as T[];
  throw invalid(field, `a list of ${names.join(", ")}`, value);
}

function isList(value: unknown, max: number): value is unknown[] {
  return Array.isArray(value) && value.length > 0 && value.length <= max;
}

/** Whether the webhook is for this event. What belongs to no queue is for those of all queues. */
export function wants({ events, queues, states }: NewWebhook, event: BrokerEvent): boolean {
  if (!events.includes(event.event)) return false;
  if (!("queue" in event)) return queues.includes("*");
  if (!queues.some((pattern) => matchesPattern(pattern, event.queue))) return false;
  return event.event !== "ended" || states === undefined || states.some((s) => s === event.state);
}
