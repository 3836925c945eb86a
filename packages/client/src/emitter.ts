/**
 * A typed emitter that works in Node and in browsers. Each event is one object. Events rise: what a
 * worker tells is heard by the listeners of its queue and of its Sluice too.
 *
 * A listener that throws or rejects is reported as an `error` event and does not stop the others.
 * An `error` without a listener is printed: silence would hide a worker that has stopped.
 */
import { invalid } from "@sluice/protocol";

export type Listener<E> = (event: E) => unknown;

/** Every emitter can tell of errors. */
export interface WithError {
  error: { error: Error };
}

/** What all emitters share, whatever the types of their events. */
type AnyEmitter = Emitter<WithError>;
type AnyListener = Listener<never>;

let tell: (emitter: AnyEmitter, name: PropertyKey, event: unknown) => boolean;
let listens: (emitter: AnyEmitter, name: PropertyKey) => boolean;

const NO_LISTENERS: readonly AnyListener[] = [];

const originals = new WeakMap<AnyListener, AnyListener>();

export class Emitter<Events extends WithError> {
  readonly #listeners = new Map<PropertyKey, readonly AnyListener[]>();
  readonly #names: readonly string[];
  readonly #above: AnyEmitter | undefined;

  /** `names`: all events there are. A listener for any other would never be called. */
  constructor(names: readonly (keyof Events & string)[], above?: AnyEmitter) {
    this.#names = names;
    this.#above = above;
  }

  static {
    tell = (emitter, name, event) => emitter.#tell(name, event);
    listens = (emitter, name) => emitter.#listens(name);
  }

  on<N extends keyof Events>(name: N, listener: Listener<Events[N]>): this {
    if (!this.#names.includes(name as string)) {
      throw invalid("on.event", `one of ${this.#names.join(", ")}`, name);
    }
    // Lists are replaced and never changed: a listener may come or go while one is walked through.
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
    return this;
  }

  once<N extends keyof Events>(name: N, listener: Listener<Events[N]>): this {
    const wrapper: Listener<Events[N]> = (event) => {
      this.off(name, wrapper);
      return listener(event);
    };
    originals.set(wrapper, listener);
    return this.on(name, wrapper);
  }

  off<N extends keyof Events>(name: N, listener: Listener<Events[N]>): this {
    const list = this.#listeners.get(name) ?? [];
    const at = list.findIndex((one) => one === listener || originals.get(one) === listener);
    if (at === -1) return this;
    if (list.length === 1) this.#listeners.delete(name);
    else this.#listeners.set(name, list.toSpliced(at, 1));
    return this;
  }

  #listens(name: PropertyKey): boolean {
    if (this.#listeners.size > 0 && this.#listeners.has(name)) return true;
    return this.#above !== undefined && listens(this.#above, name);
  }

  #tell(name: PropertyKey, event: unknown): boolean {
    const list = this.#listeners.get(name) ?? NO_LISTENERS;
    for (const listener of list) this.#call(name, listener as Listener<unknown>, event);
    const isHeardAbove = this.#above !== undefined && tell(this.#above, name, event);
    return isHeardAbove || list.length > 0;
  }

  #call(name: PropertyKey, listener: Listener<unknown>, event: unknown): void {
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch((error) => this.#blame(name, error));
    } catch (error) {
      this.#blame(name, error);
    }
  }

  /** A listener of errors that fails itself is only printed: telling it again would never end. */
  #blame(name: PropertyKey, thrown: unknown): void {
    const error = toError(thrown);
    if (name === "error") print(error);
    else emit<WithError, "error">(this, "error", { error });
  }
}

/** Tells an event. Apart from the class, so that only those who own an emitter can. */
export function emit<Events extends WithError, N extends keyof Events>(
  emitter: Emitter<Events>,
  name: N,
  event: Events[N],
): void {
  const isHeard = tell(emitter, name, event);
  if (name === "error" && !isHeard) print((event as WithError["error"]).error);
}

/** Whether the event has a listener. Most have none, so the event need not be made. */
export function hears(emitter: AnyEmitter, name: PropertyKey): boolean {
  return listens(emitter, name);
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function print(error: Error): void {
  console.error("sluice:", error);
}
