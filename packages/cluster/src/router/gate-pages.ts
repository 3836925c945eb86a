/** A page of the gates of all partitions, in the order in which one broker lists its own. */
import {
  checkInteger,
  type GateInfo,
  type GatesOptions,
  type GatesPage,
  invalid,
  PAGE_MAX,
} from "@sluice/protocol";
import { PAGE } from "../limits.ts";

interface Place {
  readonly value: number;
  readonly key: string;
}

export function pageOfGates(gates: readonly GateInfo[], options: GatesOptions): GatesPage {
  const { limit = PAGE, sort = "key", cursor } = options;
  checkInteger("limit", limit, 1, PAGE_MAX);
  const after = parsePlace(cursor);
  const placed = gates.map((info) => ({
    info,
    key: info.key,
    value: sort === "key" ? 0 : info.waitingLanes + (info.cooldown === undefined ? 0 : 1),
  }));
  const left = placed
    .filter((place) => after === undefined || inOrder(place, after) > 0)
    .sort(inOrder);
  const page = { items: left.slice(0, limit).map(({ info }) => info), total: gates.length };
  const last = left[limit - 1];
  if (left.length <= limit || last === undefined) return page;
  return { ...page, cursor: `${last.value},${last.key}` };
}

function inOrder(a: Place, b: Place): number {
  return b.value - a.value || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

function parsePlace(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const [, value, key] = /^(\d+),(.+)$/.exec(String(cursor)) ?? [];
  if (key !== undefined) return { value: Number(value), key };
  throw invalid("cursor", "the cursor of an earlier answer", cursor);
}
