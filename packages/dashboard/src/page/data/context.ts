import type { Session } from "@sluice/protocol";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { PulseConnection, PulseState } from "./pulse.ts";

export interface Place {
  readonly line: PulseConnection;
  readonly session: Session;
  /** Says what was done, where everybody who uses the page hears it. */
  say(text: string): void;
  /** The key is good no more. */
  onUnauthorized(): void;
}

export const PlaceContext = createContext<Place | undefined>(undefined);

export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (place === undefined) throw new Error("outside of the page");
  return place;
}

export function useLineState(line: PulseConnection): PulseState {
  const [state, setState] = useState(line.state);
  useEffect(() => {
    setState(line.state);
    return line.watch(() => setState(line.state));
  }, [line]);
  return state;
}

/** The server's time, again every second: for what is counted down or up. */
export function useNow(): number {
  const { line } = usePlace();
  const [now, setNow] = useState(() => line.serverNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(line.serverNow()), 1_000);
    return () => clearInterval(timer);
  }, [line]);
  return now;
}
