import { type Outcome, SluiceError } from "@sluice/protocol";

/** The answer of a batch of one. */
export async function one<T>(call: Promise<readonly Outcome<T>[]>): Promise<T> {
  const [outcome] = await call;
  if (outcome === undefined) throw new SluiceError("INTERNAL", "the broker did not answer");
  if (outcome.error !== undefined) throw SluiceError.fromJSON(outcome.error);
  return outcome.ok;
}
