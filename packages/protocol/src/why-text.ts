import { counted } from "./count.ts";
import { span } from "./span.ts";
import type * as whys from "./why.ts";
import type {
  Dead,
  WhyBlocked,
  WhyDelayed,
  WhyEnded,
  WhyFacts,
  WhySuspended,
  WhyWaiting,
} from "./why.ts";

type WhyGated = whys.WhyGated<string | number>;
type WhyOrdered = whys.WhyOrdered<string | number>;

/** Errors and reasons are cut to this many characters: the whole is in the data. */
const QUOTED_CHARS = 200;

/**
 * Why a job is not running, in one to three sentences: what keeps it, until when, and what to do
 * where something must be done. It says no more than the data does.
 */
export function whyText(why: WhyFacts<string | number>, now: number): string {
  switch (why.state) {
    case "blocked":
      return blockedText(why, now);
    case "delayed":
      return delayedText(why, now);
    case "running":
      return runningText(why.worker, span(why.until - now));
    case "dead":
      return deadText(why.dead, why.queue);
    case "waiting":
      if (why.reason === "ordered") return orderedText(why);
      return why.reason === "gated" ? gatedText(why, now) : waitingText(why);
    default:
      return endedText(why);
  }
}

function runningText(worker: string, left: string): string {
  return `It runs on worker ${JSON.stringify(worker)}, whose lease ends in ${left}.`;
}

/** On one line, without an end that is too long. */
function quote(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS)}...` : line;
}

function sentences(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" ");
}

function lastError(error: string | undefined): string | undefined {
  return error === undefined ? undefined : `Last error: ${quote(error)}`;
}

function suspendedText({ cause, step, until, error }: WhySuspended, now: number): string {
  const left = until === undefined ? undefined : span(until - now);
  if (cause === "sleep") return `It sleeps for another ${left}.`;
  if (cause === "signal") {
    const most = left === undefined ? "without a time limit" : `for at most another ${left}`;
    const how = `Send it with "sluice signal ID ${step}".`;
    return `It waits for the signal ${JSON.stringify(step)}, ${most}. ${how}`;
  }
  return sentences(`Step ${JSON.stringify(step)} runs again in ${left}.`, lastError(error));
}

function delayedText(why: WhyDelayed | WhySuspended, now: number): string {
  if ("step" in why) return suspendedText(why, now);
  const left = span(why.until - now);
  const { attempt = 0, attempts = 0, cause, error, queue, dead } = why;
  const next = dead === undefined ? `Attempt ${attempt + 1} of ${attempts}` : "The next attempt";
  const letter = dead && deadText(dead, queue);
  switch (cause) {
    case "failed":
      return sentences(letter, `${next} starts in ${left}, after a failure.`, lastError(error));
    case "expired":
      return sentences(letter, `${next} starts in ${left}: the lease of the last one expired.`);
    case "retry-after":
      return sentences(letter, `It runs again in ${left}, as its worker asked.`, lastError(error));
    case "queue-full": {
      const full = `queue ${queue} is full (${counted(why.waiting ?? 0, "job")})`;
      return `It is due in ${left}, but ${full}: it is put off again until there is room.`;
    }
    default:
      return sentences(letter, `It is delayed for another ${left}.`);
  }
}

function blockedText(why: WhyBlocked<string | number>, now: number): string {
  const { flow, for: one, open, until } = why;
  const seal =
    flow === undefined
      ? undefined
      : `Its flow is not sealed and is cancelled in ${span((until ?? now) - now)} unless you seal it.`;
  if (open === 0 && seal !== undefined) return seal;
  if (one === undefined) return sentences(seal, `It waits for ${counted(open, "job")}.`);
  const isGone = one.queue === undefined;
  const where = isGone
    ? `, which went with its queue`
    : ` of queue ${one.queue}, which is ${one.state}`;
  const more = open > 1 ? `, and for ${counted(open - 1, "other job")}` : "";
  const end = isGone ? 'End the wait with "sluice job cancel ID".' : undefined;
  return sentences(seal, `It waits for job ${one.id}${where}${more}.`, end);
}

function deadText({ origin, attempts, reason, error, isOriginGone }: Dead, queue: string): string {
  const isUsedUp = reason === "attempts used up";
  const failed = isUsedUp
    ? `it failed ${attempts} of ${counted(attempts, "time")} in queue ${origin}`
    : `it failed in queue ${origin} (${reason})`;
  const again = `Run it again with "sluice job retry ID" or "sluice redrive ${queue}".`;
  const gone = isOriginGone && `That queue was deleted: make it with "sluice queue set ${origin}".`;
  return sentences(`It is a dead letter: ${failed}.`, gone, again, lastError(error));
}

function orderedText({ ahead, place }: WhyOrdered): string {
  const more = place > 1 ? `It is number ${place} of those that wait.` : undefined;
  return sentences(`Its lane is ordered: job ${ahead} must end first.`, more);
}

function waitingText(why: WhyWaiting): string {
  const { queue, reason, running } = why;
  switch (reason) {
    case "paused":
      return `Queue ${queue} is paused. Resume it with "sluice queue resume ${queue}".`;
    case "capacity": {
      const most = `Queue ${queue} runs ${counted(running, "job")}, its limit`;
      return sentences(`${most} (capacity.running).`, before(why));
    }
    case "no-worker":
      return sentences(noWorker(why), before(why));
    case "behind":
      return before(why)!;
    default:
      return sentences(
        why.urgent > 0 ? before(why) : undefined,
        "It runs at its lane's next turn.",
      );
  }
}

function noWorker({ queue, workers, running }: WhyWaiting | WhyGated): string {
  if (workers === 0) return `No worker is connected to queue ${queue}.`;
  const jobs = counted(running, "job");
  if (workers === 1) return `The only worker of queue ${queue} is busy with ${jobs}.`;
  return `All ${counted(workers, "worker")} of queue ${queue} are busy with ${jobs}.`;
}

/** Who goes out before the job. */
function before({ place, urgent }: WhyWaiting | WhyGated): string | undefined {
  const more = place >= 1000 ? "At least " : "";
  const lane =
    place === 0
      ? undefined
      : `${more}${counted(place, "job")} of its lane ${place === 1 ? "is" : "are"} before it.`;
  const tiers =
    urgent === 0
      ? undefined
      : `${counted(urgent, "job")} of a more urgent tier ${urgent === 1 ? "waits" : "wait"}.`;
  return lane === undefined && tiers === undefined ? undefined : sentences(tiers, lane);
}

function gatedText(why: WhyGated, now: number): string {
  const gate = gateText(why, now);
  const worker = why.workers === 0 ? noWorker(why) : undefined;
  return sentences(gate, lineText(why), worker);
}

function gateText(why: WhyGated, now: number): string {
  const { gate, part, until, cooldownReason, shutBy } = why;
  if (shutBy !== undefined) {
    const raise = `Raise it with "sluice gate set ${shutBy} rate=1".`;
    return `Gate ${gate} is shut by its configuration: its rate is 0. ${raise}`;
  }
  if (part === "line") return openText(why, now);
  if (part === "cooldown" && until !== undefined) {
    const reason = cooldownReason === undefined ? "" : `: ${quote(cooldownReason)}`;
    return `Gate ${gate} is cooled down for another ${span(until - now)}${reason}.`;
  }
  if (until !== undefined) return `Gate ${gate} opens in ${span(until - now)} (${part}).`;
  return fullText(why);
}

/** The gate opens when a job ends. */
function fullText({ gate, part, holders }: WhyGated): string {
  const { count = 0, id, worker } = holders ?? {};
  if (count === 0) return `Gate ${gate} has no permit to spare (${part}).`;
  const one = id === undefined ? undefined : `job ${id} on worker ${JSON.stringify(worker)}`;
  const held =
    one === undefined
      ? `${counted(count, "job")} run`
      : count === 1
        ? `${one} runs`
        : `${counted(count, "job")} run, among them ${one}`;
  return `Gate ${gate} is full (${part}): ${held}.`;
}

/** The gate is open, and its next permit is another job's. */
function openText({ gate, keptFor, lanes }: WhyGated, now: number): string {
  if (keptFor === undefined) {
    return `Gate ${gate} is open, with ${counted(lanes, "lane")} in line.`;
  }
  const kept = `Gate ${gate} keeps its next permit for job ${keptFor.id}`;
  if (keptFor.gate === undefined) return `${kept}, which is to run next.`;
  const { until } = keptFor;
  const when = until === undefined ? "" : `, which opens in ${span(until - now)}`;
  return `${kept}, which also needs gate ${keptFor.gate} (${keptFor.part})${when}.`;
}

/** The job's place in the line of its gate. */
function lineText(why: WhyGated): string | undefined {
  const { first, lanes, place } = why;
  if (first === undefined) return undefined;
  const line = lanes > 1 ? ` of ${counted(lanes, "lane")}` : "";
  const job = `Job ${first.id} (tier ${first.tier})`;
  const head = `${job} is first in line${line}, so this one runs later.`;
  return place === 0 ? head : sentences(head, before({ ...why, urgent: 0 }));
}

const ENDED: Readonly<Record<WhyEnded["state"], string>> = {
  finished: "has finished",
  failed: "has failed",
  cancelled: "was cancelled",
  expired: "expired",
};

function endedText({ state, error, deadline }: WhyEnded): string {
  const due = deadline === undefined ? "" : ` at its deadline, ${new Date(deadline).toISOString()}`;
  const text = `The job ${ENDED[state]}${due}`;
  if (error === undefined) return `${text}.`;
  // What is kept of a job that finished is the error of a former attempt.
  if (state === "finished") return `${text}. An earlier attempt failed: ${quote(error)}`;
  return `${text}: ${quote(error)}`;
}
