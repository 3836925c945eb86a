import { EVENT_NAMES } from "@sluice/protocol";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { at } from "../data/api.ts";
import { EVENTS_SHOWN } from "../limits.ts";
import { Choice, Empty, Frame, Head, PageHead, Search, When } from "../parts/bits.tsx";
import { eventDetail, eventTone, type ShownEvent } from "../words/event-text.ts";
import { count, exactTime } from "../words/format.ts";
import { link, type RouteQuery } from "../words/route.ts";
import { visible } from "../words/visible.ts";

const KINDS = [["", "all events"], ...EVENT_NAMES.map((name) => [name, name] as const)] as const;

/** How often a busy stream is drawn. */
const DRAW_MS = 250;

/** What happens, as it happens: the last events, newest first. */
export function EventsView({ query }: { query: RouteQuery }): JSX.Element {
  const [kind, setKind] = useState<string>("");
  const [queue, setQueue] = useState(query.queue ?? "");
  const [isPaused, setPaused] = useState(false);
  const { events, seen, error } = useEvents({ kind, queue, isPaused });
  return (
    <>
      <PageHead title="Events">
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Continue" : "Pause"}
        </button>
      </PageHead>
      <div class="tools">
        <Search label="Only of queue" value={queue} onSearch={setQueue} />
        <Choice label="Show" value={kind} options={KINDS} onChoose={setKind} />
        <span class="muted">{count(seen)} since this page was opened</span>
      </div>
      {error !== undefined && <p class="refusal">{error}</p>}
      {events.length === 0 ? (
        <Empty title="Nothing has happened yet">
          <p>
            Events appear here from now on. They are not kept: what a job went through is on its
            page.
          </p>
        </Empty>
      ) : (
        <Frame label="events">
          <table class="cards events">
            <Head columns={["Time", "Event", "Queue or gate", "Job", "Details"]} />
            <tbody>
              {events.map((event) => (
                <EventRow key={event.number} event={event} />
              ))}
            </tbody>
          </table>
        </Frame>
      )}
    </>
  );
}

interface Shown extends ShownEvent {
  number: number;
}

interface Asked {
  kind: string;
  queue: string;
  isPaused: boolean;
}

function useEvents({ kind, queue, isPaused }: Asked) {
  const [shown, setShown] = useState<{ events: readonly Shown[]; seen: number }>({
    events: [],
    seen: 0,
  });
  const [error, setError] = useState<string>();
  const held = useRef<{ events: Shown[]; seen: number }>({ events: [], seen: 0 });
  useEffect(() => {
    if (isPaused) return;
    const source = new EventSource(at(["events"], { queue, events: kind }), {
      withCredentials: true,
    });
    const take = ({ data }: MessageEvent): void => {
      const { events, seen } = held.current;
      held.current.seen = seen + 1;
      events.unshift({ ...JSON.parse(data), number: seen });
      events.length = Math.min(events.length, EVENTS_SHOWN);
    };
    for (const name of EVENT_NAMES) source.addEventListener(name, take);
    source.addEventListener("open", () => setError(undefined));
    source.onerror = () => setError("The stream of events broke. Reconnecting…");
    const timer = setInterval(() => {
      const { events, seen } = held.current;
      setShown((last) => (last.seen === seen ? last : { events: [...events], seen }));
    }, DRAW_MS);
    return () => {
      clearInterval(timer);
      source.close();
    };
  }, [kind, queue, isPaused]);
  useEffect(() => {
    held.current = { events: [], seen: held.current.seen };
    setShown((last) => ({ ...last, events: [] }));
  }, [kind, queue]);
  return { ...shown, error };
}

function EventRow({ event }: { event: Shown }): JSX.Element {
  const { at: when, queue, gate, id } = event;
  return (
    <tr>
      <td data-label="time">
        <When at={when}>{exactTime(when)}</When>
      </td>
      <th scope="row" class={eventTone(event)}>
        {event.event}
      </th>
      <td data-label="queue or gate">
        {queue !== undefined && <a href={link("queues", queue)}>{queue}</a>}
        {gate !== undefined && <a href={link("gates", gate)}>{gate}</a>}
      </td>
      <td data-label="job">{id !== undefined && <a href={link("jobs", id)}>{id}</a>}</td>
      <td data-label="details" class="detail wide">
        {visible(eventDetail(event))}
      </td>
    </tr>
  );
}
