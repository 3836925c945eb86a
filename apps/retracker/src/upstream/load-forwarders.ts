/** The forwarders of the file and of the remote lists, as one list without duplicates. */
import { readFile, stat } from "node:fs/promises";
import { callOutside } from "sluice/http";
import { LIST_BYTES_MAX, LIST_MS } from "../limits.ts";
import {
  type ForwarderList,
  type ForwarderSpec,
  parseForwarders,
  withOwnName,
} from "./forwarder-list.ts";

/** Undefined specs mean that the list could not be had: then the last one stays in use. */
export interface LoadedList {
  readonly specs: readonly ForwarderSpec[] | undefined;
  readonly problems: readonly string[];
}

export async function loadFile(file: string): Promise<LoadedList> {
  try {
    const { size } = await stat(file);
    if (size > LIST_BYTES_MAX) throw new Error(`it is longer than ${LIST_BYTES_MAX} bytes`);
    return usable(parseForwarders(await readFile(file, "utf8"), file));
  } catch (error) {
    return unreadable(file, error);
  }
}

export async function loadRemote(url: string): Promise<LoadedList> {
  try {
    const { status, body } = await callOutside(url, {
      chooser: "operator",
      headers: { "user-agent": "sluice-retracker" },
      bytesMax: LIST_BYTES_MAX,
      timeout: LIST_MS,
    });
    if (status !== 200) throw new Error(`HTTP ${status}`);
    return usable(parseForwarders(asYaml(Buffer.from(body).toString("utf8")), url, true));
  } catch (error) {
    return unreadable(url, error);
  }
}

function unreadable(source: string, error: unknown): LoadedList {
  return { specs: undefined, problems: [`${source} cannot be read: ${(error as Error).message}`] };
}

/** A list in which all is wrong is none: a slip of the pen must not stop every announce. */
function usable({ specs, problems }: ForwarderList): LoadedList {
  return { specs: specs.length === 0 && problems.length > 0 ? undefined : specs, problems };
}

/** Many public lists are lines of addresses with empty lines between them. */
function asYaml(text: string): string {
  const lines = text.split(/\r?\n/);
  const isPlain = lines.every((line) => /^(?:\s*|#.*|(?:https?|udp|wss?):\/\/\S+)$/.test(line));
  if (!isPlain) return text;
  return lines.map((line) => (/^(?:https?|udp):/.test(line) ? `- uri: ${line}` : "")).join("\n");
}

/** Earlier lists win; repetitions are reported, unless it is the very same address. */
export function unite(
  lists: readonly { source: string; specs: readonly ForwarderSpec[] }[],
): ForwarderList {
  const byName = new Map<string, ForwarderSpec>();
  const uris = new Set<string>();
  const problems: string[] = [];
  for (const { source, specs } of lists) {
    for (const given of specs) {
      if (uris.has(given.uri)) continue;
      const spec = withOwnName(given, (name) => byName.has(name));
      if (byName.has(spec.name)) {
        problems.push(`${source}: the name ${spec.name} is in use; the entry is ignored`);
        continue;
      }
      uris.add(spec.uri);
      byName.set(spec.name, spec);
    }
  }
  return { specs: [...byName.values()], problems };
}
