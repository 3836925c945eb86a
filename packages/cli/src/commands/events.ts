import { type BrokerEvent, EVENT_NAMES, type EventFilter } from "@sluice/protocol";
import {
  type Call,
  type Command,
  EXIT,
  Misuse,
  textOf,
  textsOf,
  wholeOf,
  wordsOf,
} from "../command.ts";
import { time } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

export const eventsCommand: Command = {
  name: "events",
  usage: `sluice events                 prints what happens, as it happens, until Ctrl-C

  --queue NAME           of this queue alone
  --event NAME           only these (repeat): ${EVENT_NAMES.slice(0, 6).join(", ")}, ...
  --count N              stops after N events
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    queue: { type: "string" },
    event: { type: "string", multiple: true },
    count: { type: "string" },
  },
  run: (call) => {
    wordsOf(call.words);
    const filter = filterOf(call);
    const most = wholeOf(call, "count", 1) ?? Number.POSITIVE_INFINITY;
    return connected(call, async ({ broker }) => {
      const events = broker.events(filter);
      const end = (): void => void events.return?.();
      call.stop.addEventListener("abort", end, { once: true });
      let told = 0;
      for await (const event of events) {
        call.output.out(call.isJson ? JSON.stringify(event) : lineOf(event));
        if (++told >= most) break;
      }
      return EXIT.well;
    });
  },
};

function filterOf(call: Call): EventFilter {
  const queue = textOf(call, "queue");
  const events = eventsOf(call);
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(events.length === 0 ? {} : { events }),
  };
}

export function eventsOf(call: Call): BrokerEvent["event"][] {
  return textsOf(call, "event").map((text) => {
    const name = EVENT_NAMES.find((known) => known === text);
    if (name !== undefined) return name;
    const got = JSON.stringify(text);
    throw new Misuse(`--event must be one of ${EVENT_NAMES.join(", ")}, got ${got}`);
  });
}

/** When, what, and all else that the event tells. */
function lineOf({ at, event, ...rest }: BrokerEvent): string {
  const said = Object.entries(rest).map(([name, value]) => {
    if (name === "until" && typeof value === "number") return `until=${time(value)}`;
    return `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return [time(at), event, ...said].join("  ");
}
