import { SluiceError } from "../errors.ts";

/** Bytes that are no frame of this version, and where they stop being one. */
export function malformed(what: string, offset: number): SluiceError {
  const message = `the frame is malformed: ${what} at byte ${offset}`;
  return new SluiceError("INVALID", message, { field: "frame", value: what, offset });
}
