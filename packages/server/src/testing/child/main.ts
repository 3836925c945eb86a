// A server in a process of its own, for tests that kill it: node child/main.ts DIR PORT KEY
//
// Prints its port when it listens. It ends when its parent does.

import { openBroker } from "@sluice/broker";
import { FileLog } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { serve } from "../stream-server.ts";

const [dir, port, key] = process.argv.slice(2);
const log = await FileLog.open({ dir: dir!, durability: "os" });
const broker = await openBroker({ log });
const served = await serve(
  broker,
  {
    open: async (apiKey) => {
      if (key === undefined || apiKey === key) return broker;
      throw new SluiceError("UNAUTHORIZED", "the key is not known");
    },
  },
  Number(port ?? 0),
);
process.stdin.resume().on("end", () => process.exit(0));
console.log(served.port);
