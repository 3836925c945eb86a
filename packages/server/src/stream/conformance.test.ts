import { test } from "node:test";
import { brokerConformance, type Register } from "@sluice/protocol/conformance";
import { openServed } from "../testing/conforming.ts";
import { serve } from "../testing/stream-server.ts";

const CASE_MS_MAX = 20_000;

/** The wire has its own form for the options of jobs, so those are not skipped. */
const SKIPPED = /^(?:policies|capacity|admission|fairness|tiers|gates|deliveries)|survive,/;

const register: Register = (sentence, run) => test(sentence, { timeout: CASE_MS_MAX }, run);
const open = () => openServed((broker) => serve(broker));
brokerConformance("over a stream", open, register, { skipped: SKIPPED });
