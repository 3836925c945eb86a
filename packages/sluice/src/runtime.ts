/** Where the library runs. Bun and Deno say which Node they stand for. */
import { SluiceError } from "@sluice/protocol";

const NODE_MIN = [22, 18] as const;

/** An older Node would fail later, with a function that it does not have. */
export function checkRuntime(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  const message = `sluice needs Node ${NODE_MIN.join(".")} or newer; this is Node ${version}`;
  throw new SluiceError("INVALID", message, { field: "node" });
}
