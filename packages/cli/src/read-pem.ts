import { readFileSync } from "node:fs";
import { SluiceError } from "@sluice/protocol";

/** A certificate or a key; one that cannot be read is refused by the name of its setting. */
export function readPem(field: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SluiceError("INVALID", `${field}: ${(error as Error).message}`, { field });
  }
}
