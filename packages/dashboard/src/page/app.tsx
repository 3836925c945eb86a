import type { Session } from "@sluice/protocol";
import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, at, call, get } from "./data/api.ts";
import { Inside } from "./shell/inside.tsx";
import { Login } from "./views/login.tsx";

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
