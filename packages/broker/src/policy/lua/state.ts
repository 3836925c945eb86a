import { FAILURES_MAX, LUA_MEMORY_BYTES } from "../../limits.ts";
import type { Machine } from "./machine.ts";
import { SANDBOX } from "./sandbox.ts";

/** One script in one thread: a Lua state of its own, with memory of its own. */
export class LuaState {
  readonly #machine: Machine;
  readonly #lua: number;
  /** It ran out of memory or time: what it holds is not to be trusted. */
  isSpoilt = false;
  /** The configuration that it has. */
  config = -1;

  constructor(machine: Machine, queue: string) {
    this.#machine = machine;
    this.#lua = machine.open(LUA_MEMORY_BYTES);
    machine.loadText(this.#lua, SANDBOX);
    machine.pushMark(this.#lua);
    machine.pushText(this.#lua, queue);
    machine.pushNumber(this.#lua, FAILURES_MAX);
    const problem = machine.call(this.#lua, 3, 0);
    if (problem !== undefined) throw new Error(problem);
  }

  /** Runs the program once; returns its hooks, or why it failed. */
  load(source: string): { hooks: string } | { problem: string } {
    const machine = this.#machine;
    machine.pushGlobal(this.#lua, "load_script");
    machine.pushText(this.#lua, source);
    const problem = machine.call(this.#lua, 1, 2);
    if (problem !== undefined) return { problem };
    const isLoaded = machine.isTrue(this.#lua, -1);
    const text = Buffer.from(machine.bytes(this.#lua, -2)).toString();
    machine.pop(this.#lua, 2);
    return isLoaded ? { hooks: text } : { problem: text };
  }

  setConfig(config: Uint8Array): string | undefined {
    this.#machine.pushGlobal(this.#lua, "set_config");
    this.#machine.pushBytes(this.#lua, config);
    return this.#machine.call(this.#lua, 1, 0);
  }

  /** Asks a hook about a batch; answers as far as it came. */
  run(batch: Uint8Array): Uint8Array | { problem: string } {
    const machine = this.#machine;
    const before = machine.interruptions;
    machine.pushGlobal(this.#lua, "run");
    machine.pushBytes(this.#lua, batch);
    const problem = machine.call(this.#lua, 1, 1);
    if (machine.interruptions !== before) this.isSpoilt = true;
    if (problem !== undefined) {
      this.isSpoilt = true;
      return { problem };
    }
    const answers = machine.bytes(this.#lua, -1);
    machine.pop(this.#lua, 1);
    if (machine.wasRefusedMemory(this.#lua)) this.isSpoilt = true;
    return answers;
  }

  close(): void {
    this.#machine.close(this.#lua);
  }
}
