/** The frame around every view, for users who are logged in. */
import type { Session } from "@sluice/protocol";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, at, get } from "../data/api.ts";
import { type Place, PlaceContext, useLineState, useNow } from "../data/context.ts";
import { PulseConnection } from "../data/pulse.ts";
import { duration } from "../words/format.ts";
import { parseRoute, type Route } from "../words/route.ts";
import { Header } from "./header.tsx";
import { Side } from "./side.tsx";
import { titleOf, View } from "./views.tsx";

const CHECK_MS = 500;

function useLine(): PulseConnection {
  const line = useMemo(
    () =>
      new PulseConnection({
        open: () => new EventSource(at(["pulse"]), { withCredentials: true }),
      }),
    [],
  );
  useEffect(() => {
    line.connect();
    const timer = setInterval(() => line.check(), CHECK_MS);
    const look = (): void => (document.hidden ? line.rest() : line.wake());
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
      line.close();
    };
  }, [line]);
  return line;
}

/** A line that breaks may be a key that was revoked. */
function useDoubt(line: PulseConnection, onUnauthorized: () => void): void {
  useEffect(
    () =>
      line.watch(() => {
        if (line.state !== "stale") return;
        get(at(["session"])).catch((error) => {
          if (error instanceof ApiError && error.status === 401) onUnauthorized();
        });
      }),
    [line, onUnauthorized],
  );
}

interface InsideProps {
  session: Session;
  onUnauthorized(): void;
}

export function Inside({ session, onUnauthorized }: InsideProps): JSX.Element {
  const line = useLine();
  useDoubt(line, onUnauthorized);
  const [said, setSaid] = useState("");
  const place = useMemo<Place>(
    () => ({ line, session, onUnauthorized, say: setSaid }),
    [line, session, onUnauthorized],
  );
  const route = useRoute();
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [route]);
  const { hasBroker } = session;
  return (
    <PlaceContext.Provider value={place}>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <Header isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
      <StaleNotice line={line} />
      <div class={hasBroker ? "body" : "body alone"}>
        {hasBroker && <Side route={route} isOpen={isMenuOpen} />}
        <main id="main" tabIndex={-1}>
          <View route={route} hasBroker={hasBroker} />
        </main>
      </div>
      <Said text={said} onOver={() => setSaid("")} />
    </PlaceContext.Provider>
  );
}

/** A link would not do: the part after the # is the current view. */
function skip(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

/** What filters a view is no other place: nothing scrolls, and the focus stays. */
const placeOf = (hash: string): string => hash.split("?", 1)[0]!;

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  const shown = useRef(location.hash);
  useEffect(() => {
    const go = (): void => {
      if (placeOf(shown.current) !== placeOf(location.hash)) scrollTo(0, 0);
      shown.current = location.hash;
      setRoute(parseRoute(location.hash));
    };
    // It may have changed before anybody listened.
    if (shown.current !== location.hash) go();
    addEventListener("hashchange", go);
    return () => removeEventListener("hashchange", go);
  }, []);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${titleOf(route)} · Sluice`;
    // The link that led here is gone with its view: keyboard users continue from here.
    if (!isFirst.current && document.activeElement === document.body) skip();
    isFirst.current = false;
  }, [route]);
  return route;
}

/** Over the page and not in it, so that nothing moves when it appears. */
function StaleNotice({ line }: { line: PulseConnection }): JSX.Element {
  const state = useLineState(line);
  useNow();
  return (
    <div class="stale" role="status">
      {state === "stale" && (
        <p>Stale: no message from the server for {duration(line.silentMs)}. Reconnecting…</p>
      )}
    </div>
  );
}

const SAID_MS = 6_000;

function Said({ text, onOver }: { text: string; onOver(): void }): JSX.Element {
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(onOver, SAID_MS);
    return () => clearTimeout(timer);
  }, [text, onOver]);
  return (
    <div class="said" role="status">
      {text !== "" && <p>{text}</p>}
    </div>
  );
}
