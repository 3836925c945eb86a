import type { Core } from "../core.ts";
import type { GateLine } from "../gates/gate-line.ts";
import * as jobFields from "../jobs/job-fields.ts";
import * as nodeFields from "../ring/node-fields.ts";

const { SEQ } = jobFields;
const { ATTACHED, CHILD, STRAND_STATE, HEAD, LINED, OFFERED } = nodeFields;

/** The job that is first in the line of a gate, 0: none. Looking changes nothing. */
export function firstInLine(core: Core, gate: GateLine): number {
  const { lanes, rings } = core;
  for (const ring of gate.lines) {
    let node = ring === 0 ? 0 : rings.first(ring);
    if (node === 0) continue;
    for (let child = lanes.get(node, CHILD); child !== 0; child = rings.childOf(node)) {
      node = rings.first(child);
    }
    return headOf(core, node);
  }
  return 0;
}

/** Of a seat's own jobs and those of the strands attached to it, the oldest. */
function headOf(core: Core, seat: number): number {
  const { jobs, lanes } = core;
  const state = lanes.get(seat, STRAND_STATE);
  const own = state === LINED || state === OFFERED ? lanes.get(seat, HEAD) : 0;
  const attached = lanes.get(seat, ATTACHED);
  const other = attached === 0 ? 0 : lanes.get(attached, HEAD);
  if (own === 0 || other === 0) return own + other;
  return jobs.num(other, SEQ) < jobs.num(own, SEQ) ? other : own;
}
