// The retracker beside opentracker and npm's bittorrent-tracker: announces a second over each
// protocol, and what forwarders that do not answer cost its clients.

import type { Bench } from "../figure.ts";
import { announceGroups } from "./announces.ts";
import { slowForwarderGroups } from "./slow-forwarders.ts";

export const trackerBench: Bench = {
  name: "tracker",
  groups: [...announceGroups, ...slowForwarderGroups],
};
