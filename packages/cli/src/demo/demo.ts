/**
 * Traffic to look at, for `sluice serve --demo`: five queues, each of which shows something that
 * Sluice is for. Nothing here is needed for anything else.
 */
import { SluiceHandles } from "@sluice/client";
import { type Broker, SystemClock } from "@sluice/protocol";
import { feedExports } from "./exports.ts";
import type { Every, Feed } from "./feed.ts";
import { feedImages } from "./images.ts";
import { feedMail } from "./mail.ts";
import { feedPayments } from "./payments.ts";
import { feedWebhooks } from "./webhooks.ts";

export interface Demo extends AsyncDisposable {
  readonly text: string;
}

const FEEDS: readonly Feed[] = [feedMail, feedPayments, feedWebhooks, feedExports, feedImages];

const TEXT = `The demo feeds five queues:
  mail       "noisy" floods it and "quiet" adds a job now and then, behind two throttled providers
  payments   some fail, and some of those die: see payments.dlq and the failures
  webhooks   a receiver answers 429, and its gate cools down
  exports    a schedule adds a job every 20 seconds; now and then a run fails
  images     each picture is a flow: fetched, resized to some widths, published
Watch it on the dashboard, or with: sluice top`;

export async function feed(broker: Broker): Promise<Demo> {
  const sluice = new SluiceHandles({ port: unclosed(broker), clock: new SystemClock() });
  const timers: NodeJS.Timeout[] = [];
  const every: Every = (ms, work) => {
    // A queue that is full, or a server that stops, is no reason to end the show with an error.
    timers.push(setInterval(() => void work().catch(() => undefined), ms));
  };
  for (const start of FEEDS) await start(sluice, every);
  return {
    text: TEXT,
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearInterval(timer);
      await sluice.close({ timeout: 1_000 });
    },
  };
}

/** The server closes its broker itself. */
function unclosed(broker: Broker): Broker {
  return new Proxy(broker, {
    get: (target, name) => {
      if (name === "close") return async () => {};
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
