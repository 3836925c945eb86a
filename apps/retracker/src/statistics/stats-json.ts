/** Statistics in the form that bittorrent-tracker gives, for the tools that read it. */
import type { Swarms } from "../peers/swarms.ts";
import type { Tracker } from "../tracker.ts";
import type { Census } from "./census.ts";

export function statisticsJson(census: Census, tracker: Tracker, swarms: Swarms): object {
  const { seeders, leechers, ipv4, ipv6, clients } = census;
  return {
    torrents: swarms.hashes,
    activeTorrents: swarms.hashes,
    peersAll: seeders + leechers,
    peersSeederOnly: seeders,
    peersLeecherOnly: leechers,
    // One peer of several swarms is several peers here, so none is both.
    peersSeederAndLeecher: 0,
    peersIPv4: ipv4,
    peersIPv6: ipv6,
    clients,
    announces: tracker.announces,
    scrapes: tracker.scrapes,
  };
}
