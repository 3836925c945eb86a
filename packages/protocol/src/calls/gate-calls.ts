import type { Duration } from "../duration.ts";
import type { GateInfo } from "../gate.ts";
import { integer } from "../kinds.ts";
import { COST_MAX } from "../limits.ts";
import { COOLDOWN, COOLDOWN_REASON, type GateOptions } from "../options/gate-options.ts";
import * as shapes from "../shapes/index.ts";
import { arg, call, optional } from "./call.ts";
import { FLAG, GATE, KEY, NAME_TEXT, oneOf, PAGE, text, told } from "./kinds.ts";
import type { GatesOptions, GatesPage, OperationOptions } from "./options.ts";

export const GATE_CALLS = {
  setGate: call<[key: string, options: GateOptions], GateInfo>({
    says: "Sets the limits of a gate, or of all gates that a pattern such as `indexer:*` matches.",
    about: "gate",
    args: [KEY, arg("options", GATE)],
    may: "admin",
    repeat: "again",
    answer: shapes.GATE,
    http: { route: "PUT /v1/gates/:key", body: "options" },
  }),
  deleteGate: call<[key: string], void>({
    says: "Removes the limits of a gate: the jobs that waited for it can run.",
    about: "gate",
    args: [KEY],
    may: "admin",
    repeat: "again",
    http: "DELETE /v1/gates/:key",
  }),
  gate: call<[key: string], GateInfo>({
    says: "Inspects a gate: its limits, its level and who waits for it.",
    about: "gate",
    args: [KEY],
    may: "key",
    repeat: "read",
    answer: shapes.GATE,
    http: "GET /v1/gates/:key",
  }),
  gates: call<[], GatesPage, GatesOptions>({
    says: "Lists gates by key, or those with the longest lines first, by page.",
    about: "broker",
    args: [],
    options: {
      ...PAGE,
      search: told(text(256), "Part of the key, in upper or lower case."),
      queue: told(NAME_TEXT, "Only gates at which lanes of this queue wait."),
      configured: told(FLAG, "Only keys and patterns that have limits of their own."),
      sort: told(oneOf(["key", "waiting"]), "`waiting`: the longest lines first; default by key."),
    },
    may: "key",
    repeat: "read",
    answer: shapes.GATES,
    http: "GET /v1/gates",
  }),
  cooldown: call<[key: string, duration: Duration, reason?: string], void>({
    says: "Closes a gate for a while. A cooldown never becomes shorter.",
    about: "gate",
    args: [KEY, arg("duration", COOLDOWN), optional("reason", COOLDOWN_REASON)],
    may: "cool",
    repeat: "again",
    http: "POST /v1/gates/:key/cooldown",
  }),
  clearCooldown: call<[key: string], void>({
    says: "Ends the cooldown of a gate.",
    about: "gate",
    args: [KEY],
    may: "cool",
    repeat: "again",
    http: "DELETE /v1/gates/:key/cooldown",
  }),
  chargeGate: call<[key: string, cost: number], void, OperationOptions>({
    says:
      "Corrects a cost afterwards: more was used of a gate's rate and windows than was taken, " +
      "or, below zero, less of its rate.",
    about: "gate",
    args: [KEY, arg("cost", integer(-COST_MAX, COST_MAX))],
    may: "cool",
    repeat: "once",
    http: "POST /v1/gates/:key/charge",
  }),
  reportGate: call<[key: string, ok: boolean], void, OperationOptions>({
    says: "Reports a success or a failure to the ladder of a gate.",
    about: "gate",
    args: [KEY, arg("ok", FLAG)],
    may: "cool",
    repeat: "once",
    http: "POST /v1/gates/:key/report",
  }),
};
