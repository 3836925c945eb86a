import { test } from "node:test";
import { brokerConformance, ENGINE_SUBJECTS, type Register } from "@sluice/protocol/conformance";
import { openThreaded } from "../testing/threaded.ts";

const CASE_MS_MAX = 60_000;

const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
brokerConformance("through a thread", openThreaded, register, { skipped: ENGINE_SUBJECTS });
