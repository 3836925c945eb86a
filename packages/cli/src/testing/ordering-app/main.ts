// The program of a child: an application that writes an order and its mail in one transaction, and
// rolls every third one back. It runs until it is killed or has made its number of transactions.
// Its parent says up to which number it may go on.

import pg from "pg";
import { Outbox } from "sluice/postgres";

const [url = "", from = "0", count = "0"] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url });
client.on("error", () => process.exit(1));
await client.connect();

let upTo = Number(from);
let goOn = (): void => {};
process.on("message", (number: number) => {
  upTo = number;
  goOn();
});
process.send?.("ready");
for (let i = Number(from); i < Number(from) + Number(count); i++) {
  while (i >= upTo) {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
  }
  await client.query("BEGIN");
  await client.query("INSERT INTO orders (number) VALUES ($1)", [i]);
  const tenant = `tenant-${i % 7}`;
  await new Outbox(client).add("mail", { order: i }, { fairnessKey: tenant });
  await client.query(i % 3 === 2 ? "ROLLBACK" : "COMMIT");
}
await client.end();
process.disconnect?.();
