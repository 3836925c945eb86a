/** Webhooks to receivers: one of them answers 429 after some calls, and its gate cools down. */
import { RetryAfter } from "@sluice/client";
import { type Feed, pass } from "./feed.ts";

const EVERY_MS = 400;
const WORK_MS = 15;
const COOLDOWN = "12s";
const CALLS_BEFORE_429 = 12;
const RECEIVERS = ["shop.example", "crm.example", "slow.example"];

export const feedWebhooks: Feed = async (sluice, every) => {
  const webhooks = await sluice.queue<{ event: string; url: string }>("webhooks");
  for (const host of RECEIVERS) {
    await sluice.gate(`host:${host}`).set({ concurrency: 2, windows: [{ limit: 60, per: "1m" }] });
  }
  let calls = 0;
  webhooks.work(
    async ({ payload: { url } }) => {
      await pass(WORK_MS);
      if (!url.includes("slow.example") || ++calls % CALLS_BEFORE_429 !== 0) return { status: 200 };
      throw new RetryAfter(COOLDOWN, {
        gate: "host:slow.example",
        reason: "429 from slow.example",
      });
    },
    { concurrency: 4 },
  );
  let sent = 0;
  every(EVERY_MS, () => {
    const host = RECEIVERS[++sent % RECEIVERS.length]!;
    const payload = { event: "order.paid", url: `https://${host}/hooks/${sent}` };
    return webhooks.add(payload, { fairnessKey: host, gates: [`host:${host}`] });
  });
};
