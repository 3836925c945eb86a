import { SluiceError } from "sluice";
import { redact } from "../redact.ts";
import type { Mode } from "../xml/read-caps.ts";
import type { TorznabService } from "./service.ts";

export type TriedOut =
  | { readonly ok: true; readonly title: string; readonly modes: readonly Mode[] }
  | { readonly ok: false; readonly error: string };

/** Fetches an indexer's caps; that it fails is an answer, not an error of ours. */
export async function tryOut(service: TorznabService, id: string): Promise<TriedOut> {
  try {
    const { title, modes } = await service.test(id);
    return { ok: true, title, modes: Object.keys(modes) as Mode[] };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    return { ok: false, error: redact(error instanceof Error ? error.message : "it failed") };
  }
}
