import { LuaFactory } from "wasmoon";
import { BATCH_MS, SOFT_LIMIT_MS } from "../../limits.ts";
import { ACCOUNT_BYTES, allocatorOf, MAX, REFUSED, USED } from "./allocator.ts";

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

const NO_MEMORY = "there is no memory for another script";
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
  /** The address of each state's account of memory. */
  readonly #accounts = new Map<number, number>();
  readonly #progress: Int32Array;
  #deadline = 0;
  #ownFrom = -1;
  #batchEnd = 0;
  /** Calls that were interrupted because they took too long. */
  interruptions = 0;

  private constructor(lua: Lua, allocator: (...args: number[]) => number, progress: Int32Array) {
    this.#lua = lua;
    this.#progress = progress;
    this.#allocator = lua.addFunction(allocator, "iiiii");
    this.#hook = lua.addFunction(this.#interrupt, "vii");
    this.#mark = lua.addFunction(this.#begin, "ii");
  }

  /** `progress` is counted up at every call of a script. */
  static async start(progress: Int32Array): Promise<Machine> {
    const { module, exports } = await loadLua();
    // What is called through the exports saves the checks of the loader.
    const lua: Record<string, unknown> = Object.create(module);
    for (const [name, value] of Object.entries(exports)) lua[`_${name}`] = value;
    return new Machine(lua as unknown as Lua, allocatorOf(exports), progress);
  }

  /** A new state with this much memory. */
  open(memoryBytes: number): number {
    const account = this.#lua._malloc(ACCOUNT_BYTES);
    if (account === 0) throw new Error(NO_MEMORY);
    const view = new DataView(this.#lua.HEAPU8.buffer, account);
    view.setUint32(USED, 0, true);
    view.setUint32(MAX, memoryBytes, true);
    view.setUint32(REFUSED, 0, true);
    const lua = this.#lua._lua_newstate(this.#allocator, account);
    if (lua === 0) {
      this.#lua._free(account);
      throw new Error(NO_MEMORY);
    }
    this.#accounts.set(lua, account);
    for (const [name, open] of LIBRARIES) {
      this.#lua[open](lua);
      this.#lua._lua_setglobal(lua, this.#name(name));
    }
    this.#lua._lua_sethook(lua, this.#hook, COUNT_MASK, INSTRUCTIONS);
    return lua;
  }

  close(lua: number): void {
    this.#lua._lua_close(lua);
    this.#lua._free(this.#accounts.get(lua)!);
    this.#accounts.delete(lua);
  }

  /** A batch begins: the time that it may take is counted from here. */
  beginBatch(): void {
    this.#batchEnd = performance.now() + BATCH_MS;
  }

  /** Whether the state has asked for more memory than it may have, since it was asked last. */
  wasRefusedMemory(lua: number): boolean {
    const view = new DataView(this.#lua.HEAPU8.buffer, this.#accounts.get(lua)!);
    const was = view.getUint32(REFUSED, true) !== 0;
    view.setUint32(REFUSED, 0, true);
    return was;
  }

  loadText(lua: number, text: string): void {
    const bytes = Buffer.from(text);
    this.#withBytes(bytes, (at) => {
      const name = this.#name("=sandbox");
      const isWrong = this.#lua._luaL_loadbufferx(lua, at, bytes.length, name, 0) !== 0;
      if (isWrong) throw new Error(Buffer.from(this.bytes(lua, -1)).toString());
    });
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
    if (now <= this.#batchEnd) return 0;
    this.#lua._lua_pushboolean(lua!, 1);
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
}

/**
 * The loader's module, and the exports that it wraps in checks and keeps to itself: they are taken
 * from the call that makes them.
 */
async function loadLua(): Promise<{ module: object; exports: WebAssembly.ModuleImports }> {
  const { instantiate } = WebAssembly;
  let exports: WebAssembly.ModuleImports = {};
  WebAssembly.instantiate = (async (
    bytes: Uint8Array<ArrayBuffer>,
    imports: WebAssembly.Imports,
  ) => {
    const made = await instantiate(bytes, imports);
    exports = made.instance.exports as WebAssembly.ModuleImports;
    return made;
  }) as typeof instantiate;
  try {
    const { module } = await new LuaFactory().getLuaModule();
    return { module, exports };
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}
