/** Payments: most succeed, some after another try, and a few die with one of three errors. */
import { type Feed, pass } from "./feed.ts";

const EVERY_MS = 300;
const WORK_MS = 20;
const SHOPS = ["acme", "globex", "initech"];

export const feedPayments: Feed = async (sluice, every) => {
  const retry = { attempts: 3, min: 500, max: 2_000 };
  const payments = await sluice.queue<{ order: number; cents: number }>("payments", { retry });
  payments.work(
    async ({ payload: { order }, attempt }) => {
      await pass(WORK_MS);
      if (order % 40 === 7) throw new Error(`card of customer ${order * 13} was declined`);
      if (order % 60 === 11) throw new Error(`no account has the number ${order * 7919}`);
      if (order % 9 === 5 && attempt === 0) throw new Error("the bank did not answer in 2000 ms");
      return { receipt: `R-${order}` };
    },
    { concurrency: 2 },
  );
  let order = 0;
  every(EVERY_MS, () => {
    const payload = { order: ++order, cents: 100 + ((order * 7919) % 20_000) };
    const shop = SHOPS[order % SHOPS.length]!;
    return payments.add(payload, { fairnessKey: shop, headers: { shop } });
  });
};
