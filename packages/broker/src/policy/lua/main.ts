/**
 * The program of a thread: holds scripts ready, each in a state of its own, and asks them about
 * batches of jobs. It answers every message but `forget`, in order.
 */
import { parentPort, workerData } from "node:worker_threads";
import { STATES_MAX } from "../../limits.ts";
import { Machine } from "./machine.ts";
import type { Answers, FromThread, ScriptSource, ToThread } from "./messages.ts";
import { LuaState } from "./state.ts";

interface Ready {
  readonly state: LuaState;
  readonly hooks: string;
}

const port = parentPort!;
const machine = await Machine.start(workerData.progress as Int32Array);
const scripts = new Map<number, ScriptSource>();
/** The one that was used least lately comes first. */
const states = new Map<number, Ready>();
let config: Uint8Array = new Uint8Array(0);
let configs = 0;

/** A script, running its program first when it is not ready. */
function readyOf(script: ScriptSource): Ready | { problem: string } {
  const known = states.get(script.id);
  if (known !== undefined) {
    states.delete(script.id);
    states.set(script.id, known);
    return known;
  }
  const state = new LuaState(machine, script.queue);
  setConfig(state);
  const loaded = state.load(script.source);
  if ("problem" in loaded) {
    state.close();
    return loaded;
  }
  if (states.size >= STATES_MAX) drop(states.keys().next().value!);
  const ready = { state, hooks: loaded.hooks };
  states.set(script.id, ready);
  return ready;
}

function drop(id: number): void {
  states.get(id)?.state.close();
  states.delete(id);
}

function setConfig(state: LuaState): void {
  if (state.config === configs) return;
  state.config = configs;
  const problem = state.setConfig(config);
  if (problem !== undefined) state.isSpoilt = true;
}

function useConfig(told: Uint8Array | undefined): void {
  if (told === undefined) return;
  config = told;
  configs++;
}

function check(script: ScriptSource): FromThread {
  const state = new LuaState(machine, script.queue);
  setConfig(state);
  const loaded = state.load(script.source);
  state.close();
  return { kind: "checked", ...loaded };
}

function run(message: ToThread & { kind: "run" }): Answers {
  if (message.script !== undefined) scripts.set(message.id, message.script);
  useConfig(message.config);
  const ready = readyOf(scripts.get(message.id)!);
  if ("problem" in ready) return { kind: "answers", ...ready };
  const { state, hooks } = ready;
  setConfig(state);
  if (!hooks.includes(message.batch[0] === 1 ? "f" : "e")) {
    return { kind: "answers", hooks, answers: new Uint8Array(0) };
  }
  machine.beginBatch();
  const answers = state.run(message.batch);
  if (state.isSpoilt) drop(message.id);
  return answers instanceof Uint8Array
    ? { kind: "answers", hooks, answers }
    : { kind: "answers", ...answers };
}

/** The processor time of this thread so far. */
function ownMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function answer(message: ToThread): FromThread | undefined {
  if (message.kind === "check") {
    useConfig(message.config);
    return check(message.script);
  }
  if (message.kind === "run") {
    const from = ownMs();
    const reply = run(message);
    return { ...reply, usedMs: ownMs() - from };
  }
  scripts.delete(message.id);
  drop(message.id);
  return undefined;
}

port.on("message", (message: ToThread) => {
  const reply = answer(message);
  // The thread that watches sees that the work is done even before the answer arrives.
  workerData.progress[0]++;
  if (reply !== undefined) port.postMessage(reply);
});
// The first state takes many times as long as the next, so it is made before time is measured.
check({ id: 0, queue: "", source: "" });
port.postMessage({ kind: "ready" } satisfies FromThread);
