/**
 * Who the local peers are: by client, address family, seeders and leechers. All rows have to be
 * looked at, so this is done some at a time and the answer is used for a minute.
 */
import type { Clock } from "sluice";
import { CLIENTS_SHOWN_MAX } from "../limits.ts";
import { PARTIAL, SEEDER } from "../peers/peer-rows.ts";
import type { Swarms } from "../peers/swarms.ts";
import { clientOf } from "./clients.ts";

export interface Census {
  readonly seeders: number;
  readonly leechers: number;
  readonly partialSeeders: number;
  readonly ipv4: number;
  readonly ipv6: number;
  /** By name and version. */
  readonly clients: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const KEPT_MS = 60_000;
const ROWS_AT_ONCE = 8_192;

export class PeerCensus {
  readonly #swarms: Swarms;
  readonly #clock: Clock;
  #taken: { at: number; census: Promise<Census> } | undefined = undefined;

  constructor(swarms: Swarms, clock: Clock) {
    this.#swarms = swarms;
    this.#clock = clock;
  }

  take(): Promise<Census> {
    const now = this.#clock.now();
    if (this.#taken === undefined || now - this.#taken.at >= KEPT_MS) {
      this.#taken = { at: now, census: this.#count() };
    }
    return this.#taken.census;
  }

  async #count(): Promise<Census> {
    const { rows } = this.#swarms;
    const counts = { seeders: 0, leechers: 0, partialSeeders: 0, ipv4: 0, ipv6: 0 };
    const clients: Record<string, Record<string, number>> = Object.create(null);
    let shown = 0;
    for (let row = 0; row < rows.end; row++) {
      if (row % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await new Promise(setImmediate);
      if (!rows.isUsed(row)) continue;
      const flags = rows.flagsOf(row);
      if ((flags & SEEDER) !== 0) counts.seeders++;
      else counts.leechers++;
      if ((flags & PARTIAL) !== 0) counts.partialSeeders++;
      if (rows.isV4(row)) counts.ipv4++;
      else counts.ipv6++;
      const { name, version } = clientOf(rows.peerIdOf(row));
      // Strangers choose names and versions.
      const isKnown = clients[name]?.[version] !== undefined;
      if (!isKnown && ++shown > CLIENTS_SHOWN_MAX) continue;
      clients[name] ??= Object.create(null) as Record<string, number>;
      clients[name][version] = (clients[name][version] ?? 0) + 1;
    }
    return { ...counts, clients };
  }
}
