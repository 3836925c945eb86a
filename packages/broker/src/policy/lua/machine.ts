import { LuaFactory } from "wasmoon";
import { BATCH_MS, SOFT_LIMIT_MS } from "../../limits.ts";

/** The functions of Lua's C interface that are used, and the memory they work on. */
interface Lua {
  readonly HEAPU8: Uint8Array;
  addFunction(call: (...args: number[]) => number | undefined, signature: string): number;
  _malloc(size: number): number;
  _free(pointer: number): void;
  _realloc(pointer: number, size: number): number;
  _lua_newstate(allocator: number, data: number): number;
  _lua_close(lua: number): void;
  _lua_settop(lua: number, index: number): void;
  _lua_pushlstring(lua: number, pointer: number, length: number): number;
  _lua_pushnumber(lua: number, value: number): void;
  _lua_pushboolean(lua: number, value: number): void;
  _lua_pushcclosure(lua: number, call: number, values: number): void;
  _lua_getglobal(lua: number, name: number): number;
  _lua_setglobal(lua: number, name: number): void;
  _lua_toboolean(lua: number, index: number): number;
  _lua_tolstring(lua: number, index: number, length: number): number;
  _lua_pcallk(lua: number, args: number, results: number, h: number, c: number, k: number): number;
  _lua_error(lua: number): number;
  _lua_sethook(lua: number, hook: number, mask: number, count: number): void;
  _luaL_loadbufferx(lua: number, text: number, size: number, name: number, mode: number): number;
  _luaopen_base(lua: number): number;
  _luaopen_string(lua: number): number;
  _luaopen_table(lua: number): number;
  _luaopen_math(lua: number): number;
  _luaopen_utf8(lua: number): number;
}

/** What a script may use at all; the sandbox takes away more. */
const LIBRARIES = [
  ["_G", "_luaopen_base"],
  ["string", "_luaopen_string"],
  ["table", "_luaopen_table"],
  ["math", "_luaopen_math"],
  ["utf8", "_luaopen_utf8"],
] as const;

/** The hook is called after so many instructions: some tens of microseconds. */
const INSTRUCTIONS = 1000;
const COUNT_MASK = 8;

/** A thread that had no processor has used no time: a call is given this much of its own. */
const OWN_MS = 2;

/** One that swallows the interruption is interrupted again, until its thread is ended. */
const AGAIN_MS = 1;

const TOO_LONG = `the call took longer than ${SOFT_LIMIT_MS} ms`;

/**
 * Lua in this thread, by its C interface: numbers and bytes cross, never an object, so there is
 * nothing of the host that a script could reach.
 */
export class Machine {
  readonly #lua: Lua;
  readonly #allocator: number;
  readonly #hook: number;
  readonly #mark: number;
  readonly #names = new Map<string, number>();
  readonly #memory = new Map<number, { used: number; max: number; isRefused: boolean }>();
  readonly #ids = new Map<number, number>();
  readonly #progress: Int32Array;
  #lastId = 0;
  #deadline = 0;
  #ownFrom = -1;
  #batchEnd = 0;
  /** Calls that were interrupted because they took too long. */
  interruptions = 0;

  private constructor(lua: Lua, progress: Int32Array) {
    this.#lua = lua;
    this.#progress = progress;
    this.#allocator = lua.addFunction(this.#allocate, "iiiii");
    this.#hook = lua.addFunction(this.#interrupt, "vii");
    this.#mark = lua.addFunction(this.#begin, "ii");
  }

  /** `progress` is counted up at every call of a script. */
  static async start(progress: Int32Array): Promise<Machine> {
    const { module } = await new LuaFactory().getLuaModule();
    return new Machine(module as unknown as Lua, progress);
  }

  /** A new state with this much memory. */
  open(memoryBytes: number): number {
    const id = ++this.#lastId;
    this.#memory.set(id, { used: 0, max: memoryBytes, isRefused: false });
    const lua = this.#lua._lua_newstate(this.#allocator, id);
    if (lua === 0) throw new Error("there is no memory for another script");
    this.#ids.set(lua, id);
    for (const [name, open] of LIBRARIES) {
      this.#lua[open](lua);
      this.#lua._lua_setglobal(lua, this.#name(name));
    }
    this.#lua._lua_sethook(lua, this.#hook, COUNT_MASK, INSTRUCTIONS);
    return lua;
  }

  close(lua: number): void {
    this.#lua._lua_close(lua);
    this.#memory.delete(this.#ids.get(lua)!);
    this.#ids.delete(lua);
  }

  /** A batch begins: the time that it may take is counted from here. */
  beginBatch(): void {
    this.#batchEnd = performance.now() + BATCH_MS;
  }

  /** Whether the state has asked for more memory than it may have, since it was asked last. */
  wasRefusedMemory(lua: number): boolean {
    const memory = this.#memory.get(this.#ids.get(lua)!)!;
    const was = memory.isRefused;
    memory.isRefused = false;
    return was;
  }

  loadText(lua: number, text: string): void {
    const bytes = Buffer.from(text);
    this.#withBytes(bytes, (at) =>
      this.#lua._luaL_loadbufferx(lua, at, bytes.length, this.#name("=sandbox"), 0),
    );
  }

  pushMark(lua: number): void {
    this.#lua._lua_pushcclosure(lua, this.#mark, 0);
  }

  pushGlobal(lua: number, name: string): void {
    this.#lua._lua_getglobal(lua, this.#name(name));
  }

  pushNumber(lua: number, value: number): void {
    this.#lua._lua_pushnumber(lua, value);
  }

  pushText(lua: number, text: string): void {
    this.pushBytes(lua, Buffer.from(text));
  }

  pushBytes(lua: number, bytes: Uint8Array): void {
    this.#withBytes(bytes, (at) => this.#lua._lua_pushlstring(lua, at, bytes.length));
  }

  /** Calls what lies below `args` arguments; answers what went wrong. */
  call(lua: number, args: number, results: number): string | undefined {
    // What is ours may take its time: the loop marks where a script begins.
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#progress[0]!++;
    if (this.#lua._lua_pcallk(lua, args, results, 0, 0, 0) === 0) return undefined;
    const problem = Buffer.from(this.bytes(lua, -1)).toString();
    this.pop(lua, 1);
    return problem;
  }

  isTrue(lua: number, index: number): boolean {
    return this.#lua._lua_toboolean(lua, index) !== 0;
  }

  /** A copy of the string at `index`; empty when there is none. */
  bytes(lua: number, index: number): Uint8Array {
    const length = this.#lua._malloc(4);
    const at = this.#lua._lua_tolstring(lua, index, length);
    const size = new DataView(this.#lua.HEAPU8.buffer).getUint32(length, true);
    this.#lua._free(length);
    return at === 0 ? new Uint8Array(0) : this.#lua.HEAPU8.slice(at, at + size);
  }

  pop(lua: number, count: number): void {
    this.#lua._lua_settop(lua, -count - 1);
  }

  #withBytes(bytes: Uint8Array, use: (at: number) => void): void {
    const at = this.#lua._malloc(bytes.length + 1);
    if (at === 0) throw new Error(`there is no memory for ${bytes.length} bytes`);
    this.#lua.HEAPU8.set(bytes, at);
    use(at);
    this.#lua._free(at);
  }

  /** The address of a short text that ends in a zero; it stays. */
  #name(text: string): number {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const bytes = Buffer.from(`${text}\0`);
    const at = this.#lua._malloc(bytes.length);
    this.#lua.HEAPU8.set(bytes, at);
    this.#names.set(text, at);
    return at;
  }

  /** Before each call: tells the script's loop whether the batch has had its time. */
  readonly #begin = (lua?: number): number => {
    const now = performance.now();
    this.#deadline = now + SOFT_LIMIT_MS;
    this.#ownFrom = -1;
    this.#progress[0]!++;
    this.#lua._lua_pushboolean(lua!, now > this.#batchEnd ? 1 : 0);
    return 1;
  };

  readonly #interrupt = (lua?: number): undefined => {
    const now = performance.now();
    if (now < this.#deadline) return;
    const { user, system } = process.threadCpuUsage();
    const ownMs = (user + system) / 1000;
    if (this.#ownFrom < 0) this.#ownFrom = ownMs;
    if (ownMs - this.#ownFrom < OWN_MS) return;
    this.interruptions++;
    this.#deadline = now + AGAIN_MS;
    this.pushText(lua!, TOO_LONG);
    this.#lua._lua_error(lua!);
  };

  /** Lua's allocator: what a state holds is counted, and refused beyond its share. */
  readonly #allocate = (id?: number, pointer?: number, old?: number, size?: number): number => {
    const memory = this.#memory.get(id!)!;
    // Without a pointer `old` is no size but the kind of what is made.
    const had = pointer === 0 ? 0 : old!;
    if (size === 0) {
      memory.used -= had;
      this.#lua._free(pointer!);
      return 0;
    }
    if (size! > had && memory.used + size! - had > memory.max) {
      memory.isRefused = true;
      return 0;
    }
    const at = this.#lua._realloc(pointer!, size!);
    if (at !== 0) memory.used += size! - had;
    return at;
  };
}
