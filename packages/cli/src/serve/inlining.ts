import { setFlagsFromString } from "node:v8";

const FLAG = "max-inlined-bytecode-size-cumulative";
/** Bytes of bytecode; V8's own value is 920. */
const BYTES = 2500;

/**
 * Lets V8 put more functions into each function that it optimizes. The engine is made of many small
 * ones, and with V8's own limit the calls between them stay calls. With this one the engine takes a
 * quarter less time for a job, with 1,300 bytes 7 %; the server takes 6 to 8 % less processor time
 * for each job of a batch.
 *
 * The flag holds for the whole process. That is why the command sets it and the library does not.
 */
export function inlineMore(): void {
  if (isSetByOperator([...process.execArgv, process.env.NODE_OPTIONS ?? ""])) return;
  try {
    setFlagsFromString(`--${FLAG}=${BYTES}`);
  } catch {
    // A runtime without such flags works as it is.
  }
}

export function isSetByOperator(given: readonly string[]): boolean {
  return given.some((text) => text.replaceAll("_", "-").includes(`--${FLAG}=`));
}
