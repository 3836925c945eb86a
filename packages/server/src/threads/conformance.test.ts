import { test } from "node:test";
import { brokerConformance, type Register } from "@sluice/protocol/conformance";
import { openThreaded } from "../testing/threaded.ts";

const CASE_MS_MAX = 20_000;

/** Each case starts a thread. The end-to-end test has the others too. */
const SKIPPED = /^(?!consume|events|close)/;

const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
brokerConformance("through a thread", openThreaded, register, { skipped: SKIPPED });
