/** What travels between the server and the threads or processes that run users' handlers. */

/** What was thrown, in parts that can travel; a `RetryAfter` keeps what it asks for. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly wait?:
    | { readonly delay: number; readonly gate?: string; readonly reason?: string }
    | undefined;
}

/** `run` numbers the jobs of one server and identifies the job of a message. */
export interface RunOrder {
  readonly run: number;
  readonly type: string;
  readonly args: unknown;
  readonly uid: string;
  readonly workerId: string | undefined;
}

export type Order =
  | {
      readonly order: "load";
      readonly module: string;
      readonly nice: number;
      /** Of a board; a process has none. */
      readonly board: SharedArrayBuffer | undefined;
    }
  | ({ readonly order: "run" } & RunOrder)
  /** Small jobs, one after the other; their places are those on the board. */
  | { readonly order: "list"; readonly jobs: readonly RunOrder[] }
  | { readonly order: "abort"; readonly run: number; readonly reason: string }
  | { readonly order: "progressed"; readonly progress: number; readonly error?: string };

export type Report =
  | { readonly report: "ready"; readonly types: readonly string[] }
  | { readonly report: "refused"; readonly message: string }
  /** The result as JSON text; absent: there is none. */
  | {
      readonly report: "finished";
      readonly run: number;
      readonly result?: string | undefined;
      readonly tookMs: number;
    }
  | { readonly report: "failed"; readonly run: number; readonly thrown: Thrown }
  /** The end of a list: each of its jobs has ended, or was taken back. */
  | { readonly report: "listed" }
  | {
      readonly report: "progress";
      readonly run: number;
      readonly progress: number;
      readonly value: unknown;
    }
  /** Thrown outside of a handler's own call; `run` is the job that caused it, if one did. */
  | { readonly report: "fault"; readonly run: number | undefined; readonly thrown: Thrown }
  | { readonly report: "exiting"; readonly run: number | undefined; readonly code: number };
