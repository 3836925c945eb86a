/** The forwarders of the file and of the remote lists, as one list without duplicates. */
import { readFile, stat } from "node:fs/promises";
import { LIST_BYTES_MAX, LIST_MS } from "../limits.ts";
import { type ForwarderList, type ForwarderSpec, parseForwarders } from "./forwarder-list.ts";
import { call } from "./http-call.ts";

export async function loadFile(file: string): Promise<ForwarderList> {
  try {
    const { size } = await stat(file);
    if (size > LIST_BYTES_MAX) throw new Error(`it is longer than ${LIST_BYTES_MAX} bytes`);
    return parseForwarders(await readFile(file, "utf8"), file);
  } catch (error) {
    return { specs: [], problems: [`${file} cannot be read: ${(error as Error).message}`] };
  }
}

/** Undefined specs mean that the list could not be had: then the last one stays in use. */
export async function loadRemote(
  url: string,
): Promise<{ specs: readonly ForwarderSpec[] | undefined; problems: readonly string[] }> {
  try {
    const { status, body } = await call({
      url,
      headers: { "user-agent": "sluice-retracker", "accept-encoding": "identity" },
      proxy: undefined,
      bytesMax: LIST_BYTES_MAX,
      ownPorts: new Set(),
      signal: AbortSignal.timeout(LIST_MS),
    });
    if (status !== 200) throw new Error(`HTTP ${status}`);
    return parseForwarders(asYaml(body.toString("utf8")), url);
  } catch (error) {
    return { specs: undefined, problems: [`${url} cannot be read: ${(error as Error).message}`] };
  }
}

/** Many public lists are lines of addresses with empty lines between them. */
function asYaml(text: string): string {
  const lines = text.split(/\r?\n/);
  const isPlain = lines.every((line) => /^(?:\s*|#.*|(?:https?|udp|wss?):\/\/\S+)$/.test(line));
  if (!isPlain) return text;
  return lines.map((line) => (/^(?:https?|udp):/.test(line) ? `- uri: ${line}` : "")).join("\n");
}

/** Earlier lists win; what comes again is told, unless it is the very same address. */
export function unite(
  lists: readonly { source: string; specs: readonly ForwarderSpec[] }[],
): ForwarderList {
  const byName = new Map<string, ForwarderSpec>();
  const uris = new Set<string>();
  const problems: string[] = [];
  for (const { source, specs } of lists) {
    for (const spec of specs) {
      if (uris.has(spec.uri)) continue;
      if (byName.has(spec.name)) {
        problems.push(`${source}: there is a forwarder called ${spec.name} already`);
        continue;
      }
      uris.add(spec.uri);
      byName.set(spec.name, spec);
    }
  }
  return { specs: [...byName.values()], problems };
}
