// Random tests draw fresh cases every day, and the same ones all day: a failure in the morning is
// there at noon, on every machine. RANDOM_SEED draws others.

import fc from "fast-check";

const DAY_MS = 86_400_000;

const seed = Number(process.env.RANDOM_SEED ?? Math.floor(Date.now() / DAY_MS));
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
