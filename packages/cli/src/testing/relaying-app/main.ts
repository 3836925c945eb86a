// The program of a child: moves the outbox to a broker at an address, until it is killed.

import { Sluice } from "sluice";
import { OutboxRelay } from "sluice/postgres";

const [url = "", address = ""] = process.argv.slice(2);
const sluice = await Sluice.connect(address);
new OutboxRelay({ url, broker: sluice.broker });
