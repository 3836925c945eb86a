/**
 * Payloads and results with `--json`: JSON values under their own names, as HTTP shows them. Bytes
 * that are not JSON are base64 under `payloadBase64` and `resultBase64`.
 */
import type { CallRow } from "@sluice/protocol";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface Bodies {
  readonly payload?: Uint8Array | undefined;
  readonly result?: Uint8Array | undefined;
}

export function carried<T extends Bodies>({ payload, result, ...rest }: T): object {
  return {
    ...rest,
    ...(payload === undefined ? {} : field("payload", payload)),
    ...(result === undefined ? {} : field("result", result)),
  };
}

function field(name: string, bytes: Uint8Array): object {
  try {
    return { [name]: JSON.parse(decoder.decode(bytes)) };
  } catch {
    return { [`${name}Base64`]: Buffer.from(bytes).toString("base64") };
  }
}

/** The answer of a call with its bytes as JSON; a call that answers nothing is done. */
export function readable({ bytes }: CallRow, answer: unknown): unknown {
  if (answer === undefined) return { ok: true };
  if (bytes === "one") return carried(answer as never);
  if (bytes === undefined) return answer;
  const page = answer as { items: readonly never[] };
  return { ...page, items: page.items.map(carried) };
}
