/** A schedule: an export every 20 seconds. Some runs fail, and the next one runs all the same. */
import { type Feed, pass } from "./feed.ts";

const ROWS = 5_000;
const PARTS = 10;
const PART_MS = 400;

export const feedExports: Feed = async (sluice) => {
  const exports = await sluice.queue<{ table: string }>("exports");
  await sluice.schedule("orders-to-s3", {
    queue: "exports",
    every: "20s",
    payload: { table: "orders" },
    options: { attempts: 1 },
  });
  await sluice.schedule("weekly-report", {
    queue: "exports",
    cron: "0 6 * * 1",
    timezone: "Europe/Berlin",
    payload: { table: "revenue" },
  });
  let runs = 0;
  exports.work(async ({ payload }, { progress }) => {
    const isFailing = ++runs % 5 === 4;
    for (let part = 1; part <= PARTS; part++) {
      await pass(PART_MS);
      await progress({ done: part, total: PARTS });
      if (isFailing && part === PARTS / 2) throw new Error("the bucket is not writable");
    }
    return { rows: ROWS, table: payload.table };
  });
};
