// One order becomes many jobs. The program waits for all of them, however each may end.
import { Sluice, Unrecoverable } from "sluice";

await using sluice = await Sluice.open({ durability: "memory" });
const resize = await sluice.queue<{ file: string; width: number }, number>("resize");

resize.work(
  ({ payload: { file, width } }) => {
    if (width > 2000) throw new Unrecoverable(`${file} is not that large`);
    return width * width;
  },
  { concurrency: 4 },
);

const widths = [100, 400, 1600, 6400];
const jobs = await resize.addBulk(
  widths.map((width) => ({ payload: { file: "cat.jpg", width }, group: "order-7" })),
);
console.log(`added ${jobs.length} jobs`);

const { members } = await resize.group("order-7").finished();
for (const [index, { state }] of members.entries()) console.log(`${widths[index]}: ${state}`);
