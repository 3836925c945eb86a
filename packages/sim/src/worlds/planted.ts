// Bugs planted around the engine: the worlds must find each of them, or they are blind.
//
// A bug is a layer over the port: it changes what the engine is given or what it answers.

import type { JobSpec } from "@sluice/engine";
import { type EnginePort, type MakeEngine, makeRealEngine } from "./port.ts";

type Layer = (engine: EnginePort) => Partial<EnginePort>;

const without = (spec: JobSpec, field: keyof JobSpec): JobSpec => {
  const { [field]: _dropped, ...rest } = spec;
  return rest;
};

// Both ways of adding, without one field. Only the worlds' own jobs carry a tag as their body: the
// calls that must be refused stay as they are, or the bug would be found by the wrong check.
const forgets = (field: keyof JobSpec): Layer => {
  const change = (spec: JobSpec) => (typeof spec.body === "number" ? without(spec, field) : spec);
  return (engine) => ({
    add: (queue, spec, now) => engine.add(queue, change(spec), now),
    addAll: (queue, all, now) => engine.addAll(queue, all.map(change), now),
  });
};

export const PLANTED: Readonly<Record<string, Layer>> = {
  "an ack loses the wake-up": (engine) => {
    let isLost = false;
    return {
      ack: (id, lease, now, result) => {
        engine.ack(id, lease, now, result);
        isLost = true;
      },
      dispatch: (now, max) => {
        isLost = false;
        return engine.dispatch(now, max);
      },
      nextWake: (now) => (isLost ? Infinity : engine.nextWake(now)),
    };
  },
  "the timer is one millisecond late": (engine) => ({
    nextWake: (now) => {
      const wake = engine.nextWake(now);
      return wake > now ? wake + 1 : wake;
    },
  }),
  "leases are returned in the wrong order": (engine) => ({
    dispatch: (now, max) => engine.dispatch(now, max).reverse(),
  }),
  "a change of limits refills the gate": (engine) => ({
    setGate: (key, config, now) => {
      const { cooldown } = engine.gateStats(key, now);
      if (engine.gateStats(key, now).config !== undefined) engine.deleteGate(key, now);
      engine.setGate(key, config, now);
      if (cooldown !== undefined) engine.cooldown(key, cooldown.until - now, cooldown.reason, now);
    },
  }),
  "a weaker signal shortens a cooldown": (engine) => ({
    cooldown: (key, ms, reason, now) => {
      // Clearing by hand would also set a ladder back, and be found by that.
      const hasLadder = engine.gateStats(key, now).config?.ladder !== undefined;
      if (!hasLadder) engine.clearCooldown(key, now);
      engine.cooldown(key, ms, reason, now);
    },
  }),
  "gates of a job are forgotten": forgets("gates"),
  "weights are ignored": forgets("weight"),
  "costs are ignored": forgets("cost"),
  "fairness keys are ignored": forgets("fairnessKey"),
  "a time to live is ignored": forgets("ttlMs"),
  "dedupe is ignored": forgets("dedupe"),
  "delays are ignored": forgets("delayMs"),
  "maxWait is ignored": forgets("maxWaitMs"),
  "a retry at once counts no attempt": (engine) => ({
    nack: (id, lease, now, options) =>
      options?.delayMs === 0
        ? engine.giveBack(id, lease, now)
        : engine.nack(id, lease, now, options),
  }),
  "a job given back counts as a retry": (engine) => ({
    giveBack: (id, lease, now) => {
      engine.nack(id, lease, now, { cooldown: { gate: "nobody", ms: 0 }, blame: false });
    },
  }),
  "pause is forgotten by the dispatch": (engine) => {
    const paused = new Set<string>();
    return {
      setPaused: (name, isPaused, now) => {
        engine.setPaused(name, false, now);
        if (isPaused) paused.add(name);
        else paused.delete(name);
      },
      queueStats: (name) => ({ ...engine.queueStats(name), paused: paused.has(name) }),
    };
  },
  "a late ack is accepted": (engine) => ({
    ack: (id, _lease, now, result) => engine.ack(id, engine.job(id)?.lease ?? 1, now, result),
  }),
  "an ended lease stays extended": (engine) => ({
    extend: (id, lease, ms, now) => engine.extend(id, lease, ms + 1, now) - 1,
  }),
  "due work waits a millisecond": (engine) => ({
    tick: (now) => engine.tick(Math.max(0, now - 1)),
    dispatch: (now, max) => engine.dispatch(Math.max(0, now - 1), max),
  }),
  "a job is handed out twice": (engine) => ({
    dispatch: (now, max) => {
      const leases = engine.dispatch(now, max);
      return leases.length > 1 ? [...leases, leases[0]!] : leases;
    },
  }),
};

// Every call goes to the engine unless the bug has something else to say.
export function planted(name: string): MakeEngine {
  return (options) => {
    const engine = makeRealEngine(options);
    const layer = PLANTED[name]!(engine);
    return new Proxy(engine, {
      get(target, property) {
        const value = Reflect.get(layer, property) ?? Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
}
