/** Where a start that takes its time says so, and what ends it. */
export interface Waiting {
  readonly stop: AbortSignal;
  say(remark: string): void;
}

export const NO_WAITING: Waiting = { stop: new AbortController().signal, say: () => {} };
