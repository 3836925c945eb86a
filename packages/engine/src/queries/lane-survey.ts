import type { Core } from "../core.ts";
import type { QueueState } from "../queues/queue-state.ts";
import {
  AT_TIER,
  KIND,
  LANE,
  LEASED,
  QUEUE,
  RING,
  TIER,
  WAITING,
  WEIGHT,
} from "../ring/node-fields.ts";
import type { LaneStats } from "../types.ts";
import { laneStats, receivedBy } from "./view.ts";

export type LaneSort = "waiting" | "running" | "received" | "weight";

export interface LaneSurveyOptions {
  search?: string;
  /** Largest first; absent: only the sums are made. */
  sort?: LaneSort | undefined;
  limit?: number;
  /** The last of the page before: its value and its row. */
  after?: LanePlace | undefined;
}

export interface LanePlace {
  value: number;
  row: number;
}

/** A lane with its part of its tier: what its weight is due among those that wait, and has had. */
export interface LaneShare extends LaneStats {
  shareOwed: number;
  shareReceived: number;
  /** How long its last jobs waited once they were due, the mean; only of the busiest lanes. */
  wait?: number;
}

/** Rows looked at in one step; a search reads the key of each, which takes longer. */
const ROWS_PER_STEP = 20_000;
const ROWS_PER_SEARCH = 4_000;

/**
 * A walk over all lanes of a queue, a step at a time, so that a million lanes block no other work.
 * It sums up the weights that compete and what was received, and finds the first lanes of an order.
 * What changes meanwhile may be counted as it was or as it is.
 */
export class LaneSurvey {
  readonly #core: Core;
  readonly #queue: QueueState;
  readonly #options: Required<Pick<LaneSurveyOptions, "search" | "limit">> & LaneSurveyOptions;
  /** Weights of the members of a ring that have something waiting below them. */
  readonly #weights = new ByRow();
  /** Inner levels of paths: 1 for those that were counted already. */
  readonly #levels = new ByRow();
  readonly #received: number[] = [];
  #found: LanePlace[] = [];
  #row = 1;

  constructor(core: Core, queue: QueueState, options: LaneSurveyOptions) {
    this.#core = core;
    this.#queue = queue;
    this.#options = { search: "", limit: 100, ...options };
  }

  /** Looks at the next lanes, a bounded number. Returns whether there are more. */
  step(): boolean {
    const { nodes } = this.#core.rings;
    const { search } = this.#options;
    const rows = search === "" ? ROWS_PER_STEP : ROWS_PER_SEARCH;
    const end = Math.min(nodes.end, this.#row + rows);
    for (; this.#row < end; this.#row++) this.#look(this.#row);
    return this.#row < nodes.end;
  }

  #look(row: number): void {
    const { lanes } = this.#core;
    if (lanes.get(row, KIND) !== LANE || lanes.get(row, QUEUE) !== this.#queue.index) return;
    if (lanes.get(row, WAITING) > 0) this.#compete(row);
    const tier = lanes.get(row, AT_TIER);
    this.#received[tier] = (this.#received[tier] ?? 0) + receivedBy(this.#core, row);
    if (this.#options.sort !== undefined) this.#rank(row, this.#options.sort);
  }

  /** The lane takes part in its ring, and so do the levels above it. */
  #compete(lane: number): void {
    const { lanes, rings } = this.#core;
    let node = lane;
    while (lanes.get(node, KIND) !== TIER) {
      if (node !== lane) {
        if (this.#levels.get(node) > 0) return;
        this.#levels.add(node, 1);
      }
      const ring = lanes.get(node, RING);
      this.#weights.add(ring, lanes.get(node, WEIGHT));
      node = rings.ownerOf(ring);
    }
  }

  #rank(row: number, sort: LaneSort): void {
    const { limit, after, search } = this.#options;
    const place = { value: this.#value(row, sort), row };
    if (after !== undefined && inOrder(place, after) <= 0) return;
    if (search !== "" && !keyText(this.#core, row).includes(search)) return;
    this.#found.push(place);
    // One more than asked for tells whether there is another page.
    if (this.#found.length > 4 * (limit + 1)) this.#cut();
  }

  #value(row: number, sort: LaneSort): number {
    const { lanes } = this.#core;
    if (sort === "received") return receivedBy(this.#core, row);
    return lanes.get(row, sort === "waiting" ? WAITING : sort === "running" ? LEASED : WEIGHT);
  }

  #cut(): void {
    this.#found = this.#found.sort(inOrder).slice(0, this.#options.limit + 1);
  }

  /** The first lanes of the order; `next`: where to go on. */
  page(): { lanes: LaneShare[]; next: LanePlace | undefined } {
    this.#cut();
    const { limit } = this.#options;
    const places = this.#found.slice(0, limit);
    const { lanes } = this.#core;
    const lanesNow = places.filter(
      ({ row }) => lanes.get(row, KIND) === LANE && lanes.get(row, QUEUE) === this.#queue.index,
    );
    const next = this.#found.length > limit ? places.at(-1) : undefined;
    return { lanes: lanesNow.map(({ row }) => this.share(row)), next };
  }

  share(row: number): LaneShare {
    const { lanes, rings } = this.#core;
    const stats = laneStats(this.#core, row);
    let owed = stats.waiting > 0 ? 1 : 0;
    for (let node = row; lanes.get(node, KIND) !== TIER; ) {
      const ring = lanes.get(node, RING);
      const weight = lanes.get(node, WEIGHT);
      owed *= weight / Math.max(weight, this.#weights.get(ring));
      node = rings.ownerOf(ring);
    }
    const received = this.#received[stats.tier] ?? 0;
    const had = received === 0 ? 0 : Math.min(1, stats.received / received);
    // Another lane may have had this row before: of this one nothing ran yet.
    const wait = stats.received === 0 ? undefined : this.#queue.laneWaits?.read(row);
    const share = { ...stats, shareOwed: owed, shareReceived: had };
    return wait === undefined ? share : { ...share, wait };
  }
}

/** Sums by row. A Map of a million rows would stall while it grows. */
class ByRow {
  #sums = new Float64Array(1024);

  get(row: number): number {
    return this.#sums[row] ?? 0;
  }

  add(row: number, value: number): void {
    if (row >= this.#sums.length) {
      const grown = new Float64Array(Math.max(row + 1, 2 * this.#sums.length));
      grown.set(this.#sums);
      this.#sums = grown;
    }
    this.#sums[row]! += value;
  }
}

function inOrder(a: LanePlace, b: LanePlace): number {
  return b.value - a.value || a.row - b.row;
}

function keyText(core: Core, row: number): string {
  const key = core.lanes.keyOf(row);
  return typeof key === "string" ? key : key.join("/");
}
