/**
 * The calls of the broker as tools of the Model Context Protocol. Each tool is made from the row of
 * its call: the sentence is its description, arguments and options are its properties.
 */
import {
  type Broker,
  CALL_NAMES,
  type CallName,
  type CallRow,
  checkCall,
  type Kind,
  type NewJob,
  rowOf,
} from "@sluice/protocol";
import { readable } from "../carried.ts";

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean };
  run(given: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export interface ToolOptions {
  readonly isWriting: boolean;
  readonly signal: AbortSignal;
}

export function toolsOf(broker: Broker, options: ToolOptions): readonly Tool[] {
  const names = CALL_NAMES.filter((name) => isOffered(rowOf(name), options.isWriting));
  const tools = names.map((name) => toolOf(broker, name, options.signal));
  return options.isWriting ? [addTool(broker, options.signal), ...tools] : tools;
}

/** A call that waits would hold the assistant; those with leases are for workers. */
function isOffered({ isHot, waits, repeat }: CallRow, isWriting: boolean): boolean {
  return !isHot && !waits && (isWriting || repeat === "read");
}

function toolOf(broker: Broker, name: CallName, signal: AbortSignal): Tool {
  const row = rowOf(name);
  const { args, options, says, repeat } = row;
  const required = args.filter(({ isOptional }) => !isOptional).map((one) => one.name);
  const kinds = [...args.map((one) => [one.name, one.kind] as const), ...Object.entries(options)];
  return {
    name,
    description: says,
    inputSchema: { type: "object", properties: propertiesOf(kinds), required },
    annotations: { readOnlyHint: repeat === "read" },
    run: async (given) => {
      const own = Object.fromEntries(
        Object.entries(given).filter(([key]) => !isArgument(row, key)),
      );
      const checked = checkCall(row, [...args.map((one) => given[one.name]), own]);
      const all = [
        ...checked.slice(0, args.length),
        { ...(checked[args.length] as object), signal },
      ];
      return readable(row, await Reflect.apply(broker[name], broker, all));
    },
  };
}

function isArgument({ args }: CallRow, key: string): boolean {
  return args.some(({ name }) => name === key);
}

function propertiesOf(kinds: readonly (readonly [string, Kind])[]): object {
  return Object.fromEntries(
    kinds.map(([name, { schema, words }]) => [name, { ...schema, description: words }]),
  );
}

/** The call itself takes bytes; an assistant has JSON. */
function addTool(broker: Broker, signal: AbortSignal): Tool {
  return {
    name: "add",
    description: "Adds one job to a queue.",
    inputSchema: {
      type: "object",
      properties: {
        queue: { type: "string", description: "the name of the queue" },
        payload: { description: "the payload, as JSON" },
        options: { type: "object", description: "options of the job, such as fairnessKey" },
      },
      required: ["queue", "payload"],
    },
    annotations: { readOnlyHint: false },
    run: async ({ queue, payload, options }) => {
      const bytes = new TextEncoder().encode(JSON.stringify(payload ?? null));
      const job = { ...(options as object | undefined), payload: bytes } as NewJob;
      const [row, operation] = [rowOf("add"), { signal }];
      const [name, jobs] = checkCall(row, [queue, [job]]) as [string, NewJob[]];
      const [added] = await broker.add(name, jobs, operation);
      return added;
    },
  };
}
