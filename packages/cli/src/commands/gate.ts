import type { Duration, GateOptions, SluiceHandles } from "@sluice/client";
import type { Broker, GateInfo } from "@sluice/protocol";
import { type Call, type Command, Misuse, tell, wordsOf } from "../command.ts";
import { settingsOf } from "../settings.ts";
import { count, duration, printable, table, time } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

const VERBS = ["list", "show", "set", "delete", "cooldown", "clear"];

export const gateCommand: Command = {
  name: "gate",
  verbs: VERBS,
  usage: `sluice gate [list]                  all gates, with what is left of them
sluice gate show KEY
sluice gate set KEY name=value ...  rate=50 burst=100 concurrency=4 interval.every=2s
                                    windows='[{"limit":100,"per":"1h"}]'; KEY may be a pattern, api:*
sluice gate delete KEY              removes its limits; waiting jobs can run
sluice gate cooldown KEY TIME [REASON]
sluice gate clear KEY               ends its cooldown

${TARGET_USAGE}`,
  options: TARGET,
  run: (call) => connected(call, ({ broker, sluice }) => act(call, broker, sluice)),
};

async function act(call: Call, broker: Broker, sluice: SluiceHandles): Promise<number> {
  const [verb = "list", ...rest] = call.words;
  switch (verb) {
    case "list":
      return show(call, await sluice.gates());
    case "show":
      return show(call, [await broker.gate(wordsOf(rest, "KEY")[0])]);
    case "set":
      return set(call, sluice, rest);
    case "delete":
      await broker.deleteGate(wordsOf(rest, "KEY")[0]);
      return done(call, `${rest[0]} has no limits any more`);
    case "clear":
      await broker.clearCooldown(wordsOf(rest, "KEY")[0]);
      return done(call, `${rest[0]} is not cooling down`);
    case "cooldown":
      return cool(call, sluice, rest);
    default:
      throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
  }
}

async function set(call: Call, sluice: SluiceHandles, rest: readonly string[]): Promise<number> {
  const [name, ...pairs] = rest;
  if (name === undefined || pairs.length === 0) throw new Misuse("KEY and name=value are needed");
  // Fields and durations are checked where everybody's are.
  return show(call, [await sluice.gate(name).set(settingsOf(pairs) as GateOptions)]);
}

async function cool(call: Call, sluice: SluiceHandles, rest: readonly string[]): Promise<number> {
  const [name, length, ...reason] = rest;
  if (name === undefined || length === undefined) throw new Misuse("KEY and TIME are needed");
  await sluice.gate(name).cooldown(length as Duration, reason.join(" ") || undefined);
  return show(call, [await sluice.gate(name).info()]);
}

function done(call: Call, text: string): number {
  return tell(call, { ok: true }, () => text);
}

const COLUMNS = ["gate", "limits", ">tokens", ">in flight", ">lanes wait", "cooldown"];

function show(call: Call, gates: readonly GateInfo[]): number {
  return tell(call, gates, () => {
    if (gates.length === 0) return "no gates yet: sluice gate set smtp rate=50 burst=100";
    return table(COLUMNS, gates.map(rowOf));
  });
}

function rowOf(gate: GateInfo): string[] {
  const { cooldown, tokens } = gate;
  const cooling =
    cooldown === undefined ? "" : `until ${time(cooldown.until)} ${printable(cooldown.reason, 60)}`;
  return [
    gate.key,
    limitsOf(gate),
    tokens === undefined ? "" : tokens.toFixed(1),
    count(gate.inFlight),
    count(gate.waitingLanes),
    cooling.trimEnd(),
  ];
}

export function limitsOf({ config, windows, ladderStep }: GateInfo): string {
  const { rate, burst, interval, concurrency } = config ?? {};
  const parts = [
    rate === undefined ? "" : `${rate}/s${burst === undefined ? "" : `, burst ${burst}`}`,
    interval === undefined ? "" : `every ${duration(interval.every)}`,
    ...windows.map(({ limit, per, used }) => `${used} of ${limit} per ${duration(per)}`),
    concurrency === undefined ? "" : `${concurrency} at once`,
    ladderStep === 0 ? "" : `step ${ladderStep}`,
  ];
  return parts.filter((part) => part !== "").join("; ") || "none";
}
