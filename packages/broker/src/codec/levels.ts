/**
 * Which release understands which facts. A log, a registry and the calls between nodes have one
 * feature level; a level holds all that was new in one release.
 *
 * New kinds of facts are written only after the level has risen to theirs. A broker on files has
 * its log to itself, so there it rises at the opening. In a cluster it rises when all nodes
 * understand it. A release that meets a level above its own stops with `LOG_VERSION` and names the
 * release it needs. `docs/format.md` has the recipe for a new fact.
 */
import type { Fact } from "@sluice/engine";
import { type CallName, SluiceError, VERSION } from "@sluice/protocol";

/** The first release of each level. Level 1 is all that was before levels. */
const RELEASES: Readonly<Record<number, string>> = { 2: "0.1.0" };

/** Kinds of facts that a release before their level cannot read; all others are of level 1. */
export const FACT_LEVELS: Readonly<Partial<Record<Fact["fact"], number>>> = {
  level: 2,
  schedule: 2,
  "schedule-deleted": 2,
  ticked: 2,
  flow: 2,
  linked: 2,
  released: 2,
  step: 2,
  suspended: 2,
  signalled: 2,
  charged: 2,
  forgotten: 2,
  transferred: 2,
  logged: 2,
};

/** Calls that write such facts whatever their arguments are: refused while the level is lower. */
export const CALL_LEVELS: Readonly<Partial<Record<CallName | "lease", number>>> = {
  setSchedule: 2,
  addFlow: 2,
  openFlow: 2,
  recordStep: 2,
  suspend: 2,
  signal: 2,
  chargeGate: 2,
  log: 2,
};

/** What this release understands. */
export const FEATURE_LEVEL = Math.max(...Object.keys(RELEASES).map(Number));

/** The first release that understands a level. */
export function releaseOf(level: number): string {
  return RELEASES[level] ?? VERSION;
}

/** `what` was written at a level that this release does not know. */
export function tooNew(what: string, level: number, needs: string): SluiceError {
  const message =
    `${what} needs Sluice ${needs} or newer (feature level ${level});` +
    ` this is ${VERSION} (level ${FEATURE_LEVEL})`;
  return new SluiceError("LOG_VERSION", message, { level, needs, known: FEATURE_LEVEL });
}
