// The number of a job determines its payload and headers. The checker can tell from them which job
// they belong to, and whether they are complete.

import type { NewJob } from "@sluice/protocol";
import { Random } from "../random.ts";

type Body = Pick<NewJob, "payload"> & { headers: Record<string, string> };

const SIZES = { none: 0, small: 60, middle: 900, large: 6_000 } as const;
// Bodies of numbers from here on are large enough to fill chunks and segments by themselves.
export const HUGE_FROM = 1_000_000_000;
const HUGE_BYTES = 60_000;

export function bodyOf(number: number): Body {
  const random = new Random(number);
  const size = random.weighted({ none: 1, small: 8, middle: 5, large: 1 });
  const most = number >= HUGE_FROM ? HUGE_BYTES : SIZES[size];
  const payload = Buffer.alloc(8 + random.below(most + 1), number & 0xff);
  payload.writeDoubleLE(number);
  const headers: Record<string, string> = {};
  if (random.chance(0.4)) headers.number = String(number);
  if (random.chance(0.2)) headers.grüß = "ä".repeat(random.below(40));
  return { payload, headers };
}

// The number, or what is wrong.
export function readBody(got: {
  payload: Uint8Array;
  headers: Readonly<Record<string, string>>;
}): number | string {
  if (got.payload.length < 8) return `a payload of ${got.payload.length} bytes`;
  const number = Buffer.from(got.payload.subarray(0, 8)).readDoubleLE();
  if (!Number.isSafeInteger(number)) return "a payload that no one added";
  const { payload, headers } = bodyOf(number);
  if (Buffer.compare(payload, got.payload) !== 0) return `a broken payload of number ${number}`;
  const isSame = JSON.stringify(sorted(headers)) === JSON.stringify(sorted(got.headers));
  return isSame ? number : `other headers with the payload of number ${number}`;
}

function sorted(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
}
