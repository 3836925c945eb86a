/** What crosses between the broker and a thread of scripts. */

export type Hook = "enqueue" | "failure";

/** A script as a thread knows it; its source goes there once. */
export interface ScriptSource {
  readonly id: number;
  readonly queue: string;
  readonly source: string;
}

export type ToThread =
  /** Runs a program once, to see whether it can be. */
  | { kind: "check"; script: ScriptSource; config: Uint8Array | undefined }
  /** Asks a script about a batch of jobs; script and config are there when they are new. */
  | {
      kind: "run";
      id: number;
      script: ScriptSource | undefined;
      batch: Uint8Array<ArrayBuffer>;
      config: Uint8Array | undefined;
    }
  | { kind: "forget"; id: number };

export type FromThread =
  | { kind: "ready" }
  | { kind: "checked"; hooks: string; problem?: undefined }
  | { kind: "checked"; problem: string }
  /** With the processor time that the batch took. */
  | (Answers & { usedMs: number });

export type Answers =
  | { kind: "answers"; hooks: string; answers: Uint8Array; problem?: undefined }
  | { kind: "answers"; problem: string };
