import type { Session } from "@sluice/protocol";
import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, at, call, get } from "./data/api.ts";
import { type Place, PlaceContext, useLineState, useNow, usePlace } from "./data/context.ts";
import { useLive } from "./data/live.ts";
import { PulseConnection } from "./data/pulse.ts";
import { AppsView } from "./views/apps.tsx";
import { GatesView } from "./views/gates.tsx";
import { JobView } from "./views/job.tsx";
import { Login } from "./views/login.tsx";
import { OverviewView } from "./views/overview.tsx";
import { QueueView } from "./views/queue/queue.tsx";
import { duration } from "./words/format.ts";
import { link, parseRoute, type Route } from "./words/route.ts";
import { visible } from "./words/visible.ts";

type Entrance =
  | { state: "asking"; error?: string }
  | { state: "outside" }
  | { state: "ended" }
  | { state: "inside"; session: Session };

const AGAIN_MS = 2_000;

/** Asks who one is; a server that is not up yet, or reads its log, is asked again. */
export function App(): JSX.Element {
  const [entrance, setEntrance] = useState<Entrance>({ state: "asking" });
  const enter = useCallback(() => setEntrance({ state: "asking" }), []);
  const leave = useCallback(() => {
    setEntrance({ state: "outside" });
    // A key that is good no more is not to be shown again, as wrong keys are counted.
    call("DELETE", at(["session"])).catch(() => undefined);
  }, []);
  useEffect(() => {
    if (entrance.state !== "asking") return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    get<Session>(at(["session"])).then(
      (session) => setEntrance({ state: "inside", session }),
      (error) => {
        if (error instanceof ApiError && error.status === 401) return leave();
        timer = setTimeout(() => setEntrance({ state: "asking", error: error.message }), AGAIN_MS);
      },
    );
    return () => clearTimeout(timer);
  }, [entrance, leave]);
  const end = useCallback(() => setEntrance({ state: "ended" }), []);
  if (entrance.state === "outside") return <Login onIn={enter} />;
  if (entrance.state === "ended") return <Ended />;
  if (entrance.state === "asking") return <Waiting error={entrance.error} />;
  const { session } = entrance;
  return <Inside session={session} onUnauthorized={session.user === undefined ? leave : end} />;
}

/** The login belongs to the server that shows this page: it knows where users log in. */
function Ended(): JSX.Element {
  return (
    <main class="login">
      <p>Your login has ended.</p>
      <button type="button" class="primary" onClick={() => location.reload()}>
        Log in again
      </button>
    </main>
  );
}

function Waiting({ error }: { error: string | undefined }): JSX.Element {
  return (
    <main class="login" aria-busy="true">
      <p class="muted">{error === undefined ? "" : `Waiting for the server: ${error}`}</p>
    </main>
  );
}

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

function Inside({ session, onUnauthorized }: InsideProps): JSX.Element {
  const line = useLine();
  useDoubt(line, onUnauthorized);
  const [said, setSaid] = useState("");
  const place = useMemo<Place>(
    () => ({ line, session, onUnauthorized, say: setSaid }),
    [line, session, onUnauthorized],
  );
  const route = useRoute();
  return (
    <PlaceContext.Provider value={place}>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <Header route={route} />
      <StaleNotice line={line} />
      <main id="main" tabIndex={-1}>
        <View route={route} hasBroker={session.hasBroker} />
      </main>
      <Said text={said} onOver={() => setSaid("")} />
    </PlaceContext.Provider>
  );
}

/** A link would not do: the part after the # is the current view. */
function skip(): void {
  document.getElementById("main")?.focus({ preventScroll: true });
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const go = (): void => {
      setRoute(parseRoute(location.hash));
      scrollTo(0, 0);
    };
    // It may have changed before anybody listened.
    setRoute((known) =>
      isSame(known, parseRoute(location.hash)) ? known : parseRoute(location.hash),
    );
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

const isSame = (one: Route, other: Route): boolean => JSON.stringify(one) === JSON.stringify(other);

function titleOf(route: Route): string {
  if (route.view === "queue") return route.queue;
  return route.view === "job" ? `Job ${route.id}` : route.view;
}

function Header({ route }: { route: Route }): JSX.Element {
  const { session, line, onUnauthorized } = usePlace();
  const { data } = useLive<{ items: unknown[] }>(at(["apps"]), () => false);
  const { hasBroker } = session;
  const current = (...views: Route["view"][]) => (views.includes(route.view) ? "page" : undefined);
  return (
    <header class="bar-top">
      <a class="brand" href={link()}>
        Sluice
      </a>
      <nav aria-label="main">
        {hasBroker && (
          <>
            <a href={link()} aria-current={current("overview", "queue", "job")}>
              Queues
            </a>
            <a href={link("gates")} aria-current={current("gates")}>
              Gates
            </a>
          </>
        )}
        {(data?.items.length ?? 0) > 0 && (
          <a href={link("apps")} aria-current={hasBroker ? current("apps") : "page"}>
            Apps
          </a>
        )}
      </nav>
      <Who session={session} />
      <LineMark line={line} />
      {session.hasKeys && (
        <button type="button" class="small" onClick={onUnauthorized}>
          Log out
        </button>
      )}
    </header>
  );
}

function Who({ session: { user, isReadOnly } }: { session: Session }): JSX.Element | null {
  if (user === undefined) return null;
  return (
    <span class="who">
      {visible(user)}
      {isReadOnly && <small>read-only</small>}
    </span>
  );
}

function LineMark({ line }: { line: PulseConnection }): JSX.Element {
  const state = useLineState(line);
  return <span class={`line-mark ${state}`}>{state === "resting" ? "connecting" : state}</span>;
}

/** Over the page and not in it, so that nothing moves when it comes. */
function StaleNotice({ line }: { line: PulseConnection }): JSX.Element {
  const state = useLineState(line);
  useNow();
  return (
    <div class="stale" role="status">
      {state === "stale" && (
        <p>Stale: nothing heard from the server for {duration(line.silentMs)}. Trying again…</p>
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

function View({ route, hasBroker }: { route: Route; hasBroker: boolean }): JSX.Element {
  if (route.view === "apps" || !hasBroker) {
    return <AppsView app={route.view === "apps" ? route.app : undefined} />;
  }
  switch (route.view) {
    case "overview":
      return <OverviewView />;
    case "queue":
      return <QueueView key={route.queue} queue={route.queue} tab={route.tab} />;
    case "gates":
      return <GatesView key={route.gate} gate={route.gate} />;
    case "job":
      return <JobView key={route.id} id={route.id} />;
    case "lost":
      return <p class="empty">There is nothing at this address.</p>;
  }
}
