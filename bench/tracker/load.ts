// The load generator, a C program: it must not be what limits the figures.

import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const SOURCE = join(import.meta.dirname, "load.c");

// The program ends by itself; this is for one that does not.
const GRACE_MS = 30_000;

const COMPILER = process.env.CC ?? "cc";

export type Mode = "udp" | "keep" | "each" | "fill";

export interface LoadResult {
  readonly answers: number;
  readonly errors: number;
  readonly seconds: number;
  // Microseconds from request to answer.
  readonly p50: number;
  readonly p99: number;
}

export interface LoadCall {
  readonly mode: Mode;
  readonly port: number;
  readonly hashes: number;
  readonly peers: number;
  readonly seconds: number;
  readonly inFlight: number;
}

// The path of the program, or undefined where there is no compiler.
export function compileLoad(dir: string): string | undefined {
  const program = join(dir, "load");
  const { status } = spawnSync(COMPILER, ["-O2", "-o", program, SOURCE], { stdio: "ignore" });
  return status === 0 ? program : undefined;
}

export async function runLoad(program: string, call: LoadCall): Promise<LoadResult> {
  const { mode, port, hashes, peers, seconds, inFlight } = call;
  const args = [mode, port, hashes, peers, seconds, inFlight].map(String);
  const { stdout } = await promisify(execFile)(program, args, {
    timeout: seconds * 1000 + GRACE_MS,
  });
  return JSON.parse(stdout);
}

// The hashes that the generator makes, as hex digits.
export function hashOf(n: number): string {
  let hex = "";
  for (let i = 0; i < 5; i++) {
    let x = (Math.imul(n + 1, 2654435761) + Math.imul(i, 2246822519)) >>> 0;
    x = Math.imul(x ^ (x >>> 15), 3266489917) >>> 0;
    x = (x ^ (x >>> 13)) >>> 0;
    hex += x.toString(16).padStart(8, "0");
  }
  return hex;
}
