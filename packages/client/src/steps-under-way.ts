/** The steps of one run of a handler that have begun and not ended: it may run some in parallel. */
import { SluiceError } from "@sluice/protocol";
import { turn } from "./turn.ts";

/** A step that runs, and the one whose function called it. */
export interface StepUnderWay {
  readonly of: StepsUnderWay;
  readonly name: string;
  readonly hasGates: boolean;
  readonly caller: StepUnderWay | undefined;
  readonly ended: Promise<unknown>;
  readonly end: () => void;
}

interface Context {
  getStore(): StepUnderWay | undefined;
  run<T>(step: StepUnderWay, fn: () => T): T;
}

interface Modules {
  getBuiltinModule?(name: string): { AsyncLocalStorage: new () => Context } | undefined;
}

/** Which step calls. A browser cannot say, and there no step is known to be called by another. */
const context: Context | undefined = newContext();

function newContext(): Context | undefined {
  const { process } = globalThis as { process?: Modules };
  const hooks = process?.getBuiltinModule?.("node:async_hooks");
  return hooks && new hooks.AsyncLocalStorage();
}

export class StepsUnderWay {
  readonly #steps = new Set<StepUnderWay>();

  /** It is under way from the call on, so that the wait of another one does not overtake it. */
  begin(name: string, hasGates: boolean): StepUnderWay {
    const { promise, resolve } = Promise.withResolvers<void>();
    const step = { of: this, name, hasGates, caller: this.#caller(), ended: promise, end: resolve };
    this.#steps.add(step);
    return step;
  }

  /** Runs the function of a step, which may call others. */
  run<T>(step: StepUnderWay, fn: () => T): T {
    return context === undefined ? fn() : context.run(step, fn);
  }

  end(step: StepUnderWay): void {
    if (this.#steps.delete(step)) step.end();
  }

  /**
   * Resolves when no other step is under way. A suspension ends the run: a step that is not
   * recorded by then runs again, and two with gates would interrupt each other without end. Those
   * that have called this one cannot end before it, and are not waited for.
   */
  async others(): Promise<void> {
    const callers = new Set<StepUnderWay>();
    for (let step = this.#caller(); step !== undefined; step = step.caller) callers.add(step);
    for (;;) {
      const others = [...this.#steps].filter((step) => !callers.has(step));
      if (others.length === 0) return;
      await Promise.all(others.map(({ ended }) => ended));
      // The handler continues first: it may begin the next step.
      await turn();
    }
  }

  /**
   * Refuses a step with gates that is called by another one with gates: each would lose its permits
   * when the job waits for those of the other.
   */
  checkGates(name: string): void {
    for (let step = this.#caller(); step !== undefined; step = step.caller) {
      if (!step.hasGates) continue;
      const [own, other] = [JSON.stringify(name), JSON.stringify(step.name)];
      const message = `step ${own} is called in step ${other}, and both have gates: call it after`;
      throw new SluiceError("CONFLICT", message, { field: "name", value: name });
    }
  }

  /** Only of this run: a step may add a job, whose handler runs in the same context. */
  #caller(): StepUnderWay | undefined {
    const step = context?.getStore();
    return step?.of === this ? step : undefined;
  }
}
