// The retracker beside opentracker and npm's bittorrent-tracker: announces a second over each
// protocol; what forwarders that do not answer and a flood cost its clients; what threads would.

import type { Bench } from "../figure.ts";
import { announceGroups } from "./announces.ts";
import { floodGroups } from "./flood.ts";
import { slowForwarderGroups } from "./slow-forwarders.ts";
import { threadHopGroups } from "./thread-hop.ts";

export const trackerBench: Bench = {
  name: "tracker",
  groups: [...announceGroups, ...slowForwarderGroups, ...floodGroups, ...threadHopGroups],
};
