import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "./api.ts";
import { coalesced } from "./coalesced.ts";
import { usePlace } from "./context.ts";
import type { PulseEvent } from "./pulse.ts";

export interface Live<T> {
  /** What was answered last; it stays while the next answer is on its way. */
  data: T | undefined;
  error: string | undefined;
  refresh(): void;
}

/** Whether a pulse concerns what is shown. */
export type Concern = (pulse: PulseEvent) => boolean;

export const always: Concern = () => true;

export const ofQueue =
  (queue: string): Concern =>
  ({ queues, isCut }) =>
    isCut || queues.includes(queue);

/** What the next question adds, so that the server leaves out what one knows already. */
export type Known<T> = (last: T) => string;

const nothing = (): string => "";

/**
 * What an address answers, asked again when a pulse concerns it, one question at a time: a server
 * that is slow to answer is asked less often.
 */
export function useLive<T>(
  address: string | undefined,
  concern: Concern = always,
  known: Known<T> = nothing,
): Live<T> {
  const { line, onUnauthorized } = usePlace();
  const [answer, setAnswer] = useState<{ address: string; data: T }>();
  const [error, setError] = useState<string>();
  const ask = useRef<() => void>(() => undefined);
  const concerns = useRef(concern);
  concerns.current = concern;
  useEffect(() => {
    if (address === undefined) return;
    const { signal, abort } = asking();
    let last: T | undefined;
    const once = coalesced(async () => {
      if (signal.aborted) return;
      try {
        const data = await get<T>(address + (last === undefined ? "" : known(last)), signal);
        if (signal.aborted) return;
        last = data;
        setAnswer({ address, data });
        setError(undefined);
      } catch (reason) {
        if (signal.aborted) return;
        if (reason instanceof ApiError && reason.status === 401) return onUnauthorized();
        setError(reason instanceof Error ? reason.message : String(reason));
      }
    });
    ask.current = once;
    once();
    const leave = line.hear((pulse) => {
      if (concerns.current(pulse)) once();
    });
    return () => {
      leave();
      abort();
    };
  }, [address, line, onUnauthorized, known]);
  const refresh = useCallback(() => ask.current(), []);
  return { data: answer?.data, error, refresh };
}

function asking(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
