/** The options of `Sluice.open`. */
import type { Clock } from "../clock.ts";
import { type Fields, fields, type GivenFields } from "../fields.ts";
import { type Given, invalid, type Kind, kind } from "../kinds.ts";
import { BROKER_OPTIONS, SERVER_OPTIONS } from "./server-options.ts";

const { dir, durability, log } = SERVER_OPTIONS;

const CLOCK: Kind<Clock> = kind("a Clock, with the functions now and at", {}, isClock);
const SEED: Kind<number> = kind("an integer", { type: "integer" }, Number.isSafeInteger);

function isClock(value: unknown): boolean {
  const { now, at } = (value ?? {}) as Partial<Clock>;
  return typeof now === "function" && typeof at === "function";
}

const PLACE = {
  dir: {
    kind: dir.kind,
    text: 'The directory of the data; not needed with `log` or with `durability: "memory"`.',
  },
  log,
  durability,
} as const satisfies Fields;

const TESTING = {
  clock: { kind: CLOCK, reckoned: "the system's", text: "A test passes a `FakeClock`." },
  seed: { kind: SEED, default: 0, text: "Varies the jitter of retries." },
} as const satisfies Fields;

// The type is written out: the one that tsc infers would name another package.
export const OPEN_OPTIONS: typeof PLACE & typeof BROKER_OPTIONS & typeof TESTING = {
  ...PLACE,
  ...BROKER_OPTIONS,
  ...TESTING,
};

export type Durability = Given<typeof durability.kind>;

export interface OpenOptions extends GivenFields<typeof OPEN_OPTIONS> {}

const OPEN = fields(OPEN_OPTIONS, ({ dir: path, durability: mode, log: address }, field) => {
  const elsewhere = mode === "memory" ? 'durability: "memory"' : address && "log";
  if (elsewhere && path !== undefined) {
    throw invalid(`${field}.dir`, `absent with ${elsewhere}`, path);
  }
  if (mode === "memory" && address !== undefined) {
    throw invalid(`${field}.durability`, '"fsync" or "os" with log', mode);
  }
  if (!elsewhere && path === undefined) {
    const wanted = 'the path of a directory, unless log is given or durability is "memory"';
    throw invalid(`${field}.dir`, wanted, path);
  }
});

export function checkOpen(options: OpenOptions): void {
  OPEN.parse("open", options);
}
