// Random tests draw fresh cases every day, and the same ones all day: a failure in the morning is
// there at noon, on every machine. RANDOM_SEED draws others.

import fc from "fast-check";

const DAY_MS = 86_400_000;

const seed = Number(process.env.RANDOM_SEED ?? Math.floor(Date.now() / DAY_MS));
const isFuzzing = process.argv[1]?.endsWith(".fuzz.test.ts") === true;
fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  seed,
  // Otherwise an array of at most a hundred has ten; of 20,000 inputs of a parser few are large.
  defaultSizeToMaxWhenMaxSpecified: !isFuzzing,
});
