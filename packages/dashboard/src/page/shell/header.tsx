import type { Session } from "@sluice/protocol";
import type { JSX } from "preact";
import { at, get } from "../data/api.ts";
import { useLineState, usePlace } from "../data/context.ts";
import type { PulseConnection } from "../data/pulse.ts";
import { Icon } from "../parts/icon.tsx";
import { link, linkWith } from "../words/route.ts";
import { visible } from "../words/visible.ts";

interface HeaderProps {
  isMenuOpen: boolean;
  onMenu(): void;
}

export function Header({ isMenuOpen, onMenu }: HeaderProps): JSX.Element {
  const { session, line, onUnauthorized } = usePlace();
  const { hasBroker, hasKeys } = session;
  return (
    <header class="bar-top">
      {hasBroker && (
        <button
          type="button"
          class="menu"
          aria-expanded={isMenuOpen}
          aria-controls="side"
          aria-label="Menu"
          onClick={onMenu}
        >
          <Icon name="menu" />
        </button>
      )}
      <a class="brand" href={link()}>
        <Logo />
        Sluice
      </a>
      {hasBroker ? <FindJob /> : <span class="find" />}
      <Who session={session} />
      <LineMark line={line} />
      {hasKeys && (
        <button type="button" class="small" onClick={onUnauthorized}>
          Log out
        </button>
      )}
    </header>
  );
}

function Logo(): JSX.Element {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path class="water" d="M6 10h20M6 22h20" />
      <path class="board" d="M16 6v20" />
    </svg>
  );
}

/** Leads to the job of this id, or to all jobs with this text in their payload. */
function FindJob(): JSX.Element {
  const find = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = String(new FormData(form).get("job")).trim();
    if (text === "") return;
    location.hash = (await isJob(text)) ? link("jobs", text) : linkWith("jobs", { text });
    form.reset();
  };
  return (
    <search class="find">
      <form onSubmit={find}>
        <input
          type="search"
          name="job"
          aria-label="Find a job by id or text"
          placeholder="Find a job: its id, or text in its payload"
          autocomplete="off"
        />
      </form>
    </search>
  );
}

/** What has a blank or a bracket in it is no id. */
async function isJob(text: string): Promise<boolean> {
  if (!/^[\w.:-]+$/.test(text)) return false;
  return get(at(["jobs", text], { bytesMax: 1 })).then(
    () => true,
    () => false,
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
