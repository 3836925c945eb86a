import type { Core } from "../core.ts";
import type { GateLine } from "../gates/gate-line.ts";
import type { GateNews } from "./ledger.ts";

/** A gate was cooled down here: the other partitions must get the news. */
export function tellCooldown(core: Core, gate: GateLine, now: number): void {
  if (!core.isShared || core.isReplaying || gate.cooldownUntil <= now) return;
  const { cooldownReason: reason, ladderStep } = gate;
  const ms = gate.cooldownUntil - now;
  core.gateNews.push({ gate: gate.key, cooldown: { ms, reason, ladderStep } });
}

export function tellCleared(core: Core, gate: GateLine): void {
  if (core.isShared && !core.isReplaying) core.gateNews.push({ gate: gate.key, isCleared: true });
}

/** A job of a gate failed or succeeded: its ladder is fed, here or at the gate's home. */
export function feedLadder(core: Core, gate: GateLine, isOk: boolean, now: number): void {
  if (gate.stock === undefined) {
    gate.report(isOk, now);
    if (!isOk) tellCooldown(core, gate, now);
    return;
  }
  if (core.isReplaying || gate.config?.ladder === undefined) return;
  // At the foot of the ladder a success changes nothing. This is the usual case; send no news.
  if (isOk && gate.ladderStep === 0) return;
  if (isOk) gate.ladderStep--;
  core.gateNews.push({ gate: gate.key, isOk });
}

/** Applies news of a gate from another partition. */
export function hearNews(core: Core, news: GateNews, now: number): void {
  const gate = core.gates.gateOf(news.gate, now);
  const { key } = gate;
  if ("cooldown" in news) {
    const { ms, reason, ladderStep } = news.cooldown;
    gate.cool(now + ms, reason, now);
    if (gate.stock !== undefined) gate.ladderStep = ladderStep;
    core.tell({ at: now, fact: "cooled", key, until: now + ms, reason });
  } else if ("isCleared" in news) {
    gate.clearCooldown();
    core.tell({ at: now, fact: "cleared", key });
  } else {
    feedLadder(core, gate, news.isOk, now);
    core.tell({ at: now, fact: "reported", key, ok: news.isOk });
  }
  core.lines.changed(gate);
  // What it has borrowed goes back while it is shut.
  if (gate.stock !== undefined) core.lines.look(gate);
}
