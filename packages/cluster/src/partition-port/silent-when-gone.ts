/**
 * A partition that moves is to its users a connection that broke, and nothing else: what was not
 * answered is asked again of the next owner, who knows what was done. So the last words of a broker
 * that has been closed, or has lost its log, must not reach anybody as an answer. Whoever owns the
 * partition is told instead, and cuts the connections.
 */
import { type Broker, type Consumer, type SluiceError, toSluiceError } from "@sluice/protocol";

const GONE: ReadonlySet<string> = new Set(["CLOSED", "LOG_FAILED"]);

export function silentWhenGone(broker: Broker, onGone: (error: SluiceError) => void): Broker {
  const heard = (error: unknown): void => {
    const known = toSluiceError(error);
    if (GONE.has(known.code)) onGone(known);
  };
  return new Proxy(broker, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (name === "close" || name === "events") return member.bind(target);
      return async (...args: unknown[]): Promise<unknown> => {
        try {
          const answer: unknown = await member.apply(target, args);
          if (name === "consume") return overUnlessGone(answer as Consumer, target, heard);
          const last = lastWord(answer);
          if (last === undefined) return answer;
          heard(last);
        } catch (error) {
          if (!GONE.has(toSluiceError(error).code)) throw error;
          heard(error);
        }
        return new Promise<never>(() => {});
      };
    },
  });
}

/** An item of a batch may have been refused for the same reason. */
function lastWord(answer: unknown): unknown {
  if (!Array.isArray(answer)) return undefined;
  const item = answer.find((one) => GONE.has(one?.error?.code));
  return item === undefined ? undefined : item.error;
}

/** A consumer whose broker has gone is not over: it joins again elsewhere. */
function overUnlessGone(
  consumer: Consumer,
  broker: Broker,
  heard: (error: unknown) => void,
): Consumer {
  const over = consumer.over.then(async () => {
    try {
      await broker.queuesOf([]);
    } catch (error) {
      heard(error);
      await new Promise<never>(() => {});
    }
  });
  return {
    addCredits: (count) => consumer.addCredits(count),
    stop: () => consumer.stop(),
    over,
  };
}
