import type {
  Why as EngineWhy,
  WhyGated as EngineWhyGated,
  WhyOrdered as EngineWhyOrdered,
} from "@sluice/engine";

export type {
  Dead,
  WhyBlocked,
  WhyDead,
  WhyDelayed,
  WhyEnded,
  WhyRunning,
  WhySuspended,
  WhyWaiting,
} from "@sluice/engine";

/** Why a job is not running, as data. Inside the broker jobs are named by numbers. */
export type WhyFacts<Id extends string | number = string> = EngineWhy<Id>;

export type WhyGated<Id extends string | number = string> = EngineWhyGated<Id>;

export type WhyOrdered<Id extends string | number = string> = EngineWhyOrdered<Id>;

/** The same in words, as of a time of the broker. */
export type Why = WhyFacts & { asOf: number; text: string };
