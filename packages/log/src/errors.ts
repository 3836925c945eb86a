import { SluiceError } from "@sluice/protocol";
import { codeOf } from "./disk.ts";
import type { Flaw } from "./frame.ts";

const FLAW_TEXTS: Record<Flaw, string> = {
  short: "the frame ends too early",
  magic: "there is no frame",
  checksum: "the frame does not fit its checksum",
  place: "the frame belongs to another place",
  version: "the frame is of a newer format",
  link: "the frame does not follow the one before it",
};

export function describeFlaw(flaw: Flaw): string {
  return FLAW_TEXTS[flaw];
}

/** The log as it is on disk cannot be trusted: nothing was changed, an operator must look. */
export function damaged(file: string, offset: number, what: string): SluiceError {
  return new SluiceError(
    "LOG_DAMAGED",
    `${file} is damaged at byte ${offset}: ${what}; see "sluice log check" and "sluice log repair"`,
    { file, offset, what },
  );
}

export function newerVersion(file: string, offset: number): SluiceError {
  return new SluiceError(
    "LOG_VERSION",
    `${file} was written by a newer version of Sluice, from byte ${offset} on: update to open it`,
    { file, offset },
  );
}

export function flawed(file: string, offset: number, flaw: Flaw): SluiceError {
  return flaw === "version"
    ? newerVersion(file, offset)
    : damaged(file, offset, describeFlaw(flaw));
}

/** What the disk refused, with the code of the operating system in its details. */
export function failed(doing: string, path: string, cause: unknown): SluiceError {
  if (cause instanceof SluiceError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = codeOf(cause);
  return new SluiceError(
    "LOG_FAILED",
    `${doing} failed in ${path}: ${reason}`,
    { path, ...(code === undefined ? {} : { code }) },
    { cause },
  );
}
