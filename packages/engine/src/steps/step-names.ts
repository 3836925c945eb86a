/** How steps are found among those of their job. */
import type { StepName } from "./step-types.ts";

export function stepKey({ name, occurrence }: StepName): string {
  return `${occurrence} ${name}`;
}

/** The name under which the result of the job itself is kept: no step has it. */
export const OWN_RESULT = "\0";
export const RESULT_KEY = stepKey({ name: OWN_RESULT, occurrence: 0 });

export function isOwnResult({ name }: Pick<StepName, "name">): boolean {
  return name === OWN_RESULT;
}
