import type { Why as EngineWhy, WhyGated as EngineWhyGated } from "@sluice/engine";

export type { Dead, WhyDead, WhyDelayed, WhyEnded, WhyRunning, WhyWaiting } from "@sluice/engine";

/** Why a job is not running, as data. Inside the broker jobs are named by numbers. */
export type WhyFacts<Id extends string | number = string> = EngineWhy<Id>;

export type WhyGated<Id extends string | number = string> = EngineWhyGated<Id>;

/** The same in words, as of a time of the broker. */
export type Why = WhyFacts & { asOf: number; text: string };
