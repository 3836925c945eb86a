import { test } from "node:test";
import { brokerConformance, ENGINE_SUBJECTS, type Register } from "@sluice/protocol/conformance";
import { openThreaded } from "../testing/threaded.ts";

const CASE_MS_MAX = 20_000;

/**
 * What threads can break; `CONFORMANCE=all` runs every case. Each starts a thread, and a process
 * that has started some hundred and fifty was seen to end without a word, in 3 of 9 runs of them
 * all: that is not explained yet. A server starts its threads once.
 */
const isWhole = process.env.CONFORMANCE === "all";
const SKIPPED = isWhole ? ENGINE_SUBJECTS : /^(?!consume|events|close)/;

const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
brokerConformance("through a thread", openThreaded, register, { skipped: SKIPPED });
