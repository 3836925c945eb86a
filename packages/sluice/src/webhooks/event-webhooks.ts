/** The sender that a server needs for webhooks on its events: `serve({ webhooks: ... })`. */
import { SluiceHandles, Unrecoverable } from "@sluice/client";
import { type Broker, SystemClock } from "@sluice/protocol";
import type { OpenWebhookSender } from "@sluice/server";
import {
  EVENT_WEBHOOKS_CLOSE_MS,
  EVENT_WEBHOOKS_PER_WEBHOOK,
  EVENT_WEBHOOKS_QUEUE,
  EVENT_WEBHOOKS_REPEATS,
} from "../limits.ts";
import { Webhooks } from "./webhooks.ts";

export interface EventWebhooksOptions {
  /** Hosts that may be private and on any port, as in an address: `10.0.0.5:8080`. */
  hosts?: readonly string[] | undefined;
}

export function eventWebhooks({ hosts = [] }: EventWebhooksOptions = {}): OpenWebhookSender {
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  return async (broker, webhookOf) => {
    const sluice = new SluiceHandles({ port: unclosed(broker), clock: new SystemClock() });
    const find = (id: string): { url: string; secret: string } => {
      const webhook = webhookOf(id);
      if (webhook !== undefined) return webhook;
      throw new Unrecoverable("the webhook was deleted or has stopped");
    };
    const webhooks = await Webhooks.open(sluice, {
      queue: EVENT_WEBHOOKS_QUEUE,
      // An operator may add to every queue, but must not speak with the secrets of others.
      sealed: true,
      chooser: ({ host }) => (known.has(host) ? "operator" : "stranger"),
      perSigner: EVENT_WEBHOOKS_PER_WEBHOOK,
      secretOf: (signer) => find(signer).secret,
      urlOf: (signer) => find(signer).url,
    });
    return {
      queue: EVENT_WEBHOOKS_QUEUE,
      check: (url) => void webhooks.check(url),
      send: async (message) => {
        return (await webhooks.send({ ...message, repeats: EVENT_WEBHOOKS_REPEATS })).id;
      },
      close: async () => {
        await webhooks.close({ timeout: EVENT_WEBHOOKS_CLOSE_MS });
        await sluice.close();
      },
    };
  };
}

/** The broker is the server's. */
function unclosed(broker: Broker): Broker {
  return new Proxy(broker, {
    get: (target, name) => {
      if (name === "close") return async () => {};
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
