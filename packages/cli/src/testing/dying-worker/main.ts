// A worker in a process of its own: node main.ts URL QUEUE
//
// Says which job it was given, and holds it until the process is killed.

import { Sluice } from "sluice";

const [url, queue] = process.argv.slice(2);
const sluice = await Sluice.connect(url!);
await sluice.broker.consume(queue!, { worker: `w${process.pid}`, credits: 1 }, ([job]) => {
  console.log(`${job!.id} ${job!.attempt}`);
});
