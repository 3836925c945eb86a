// The program of a child: takes the mails of the orders, and writes each into the database within
// `job.once`. It runs until it is killed, or loses its database or its broker.

import pg from "pg";
import { Sluice } from "sluice";

const [url = "", address = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 4 });
pool.on("error", () => process.exit(1));
const sluice = await Sluice.connect(address);
const queue = await sluice.queue<{ order: number }>("mail");
queue.work(
  async (job) => {
    const tx = await pool.connect();
    try {
      await tx.query("BEGIN");
      const { order } = job.payload;
      await job.once(tx, () => tx.query("INSERT INTO mails (number) VALUES ($1)", [order]));
      await tx.query("COMMIT");
    } catch (error) {
      // Also when the connection is lost: it is not used again.
      tx.release(true);
      throw error;
    }
    tx.release();
  },
  { concurrency: 4 },
);
process.send?.("ready");
