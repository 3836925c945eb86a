import type { Why as EngineWhy } from "@sluice/engine";
import { type Why, type WhyFacts, whyText } from "@sluice/protocol";
import { idOf } from "./job-ids.ts";

/** Why a job is not running, with the names that jobs have outside, and in words. */
export function explain(why: EngineWhy, now: number): Why {
  const facts = named(why);
  return { ...facts, asOf: now, text: whyText(facts, now) };
}

function named(why: EngineWhy): WhyFacts {
  if (why.state !== "waiting" || why.reason !== "gated") return why;
  const { first, holders, keptFor, ...rest } = why;
  const facts: WhyFacts = { ...rest };
  if (first !== undefined) facts.first = { ...first, id: idOf(first.id) };
  if (keptFor !== undefined) facts.keptFor = { ...keptFor, id: idOf(keptFor.id) };
  if (holders === undefined) return facts;
  const { id, ...others } = holders;
  facts.holders = id === undefined ? others : { ...others, id: idOf(id) };
  return facts;
}
