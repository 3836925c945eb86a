/**
 * A server of the Model Context Protocol over standard input and output: one JSON-RPC message a
 * line. Only what tools need is spoken. The protocol's own library would bring a web framework and
 * a schema library into every install of the command, for four methods.
 */
import { SluiceError, VERSION } from "@sluice/protocol";
import type { Call } from "../command.ts";
import { lines } from "../lines.ts";
import type { Tool } from "./tools.ts";

/** Revisions that are understood; the newest is offered to a client that names another. */
const REVISIONS = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;

const FAULT = { parse: -32700, request: -32600, method: -32601, params: -32602 } as const;

interface Request {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export async function serveMcp(
  { input, output }: Pick<Call, "input" | "output">,
  tools: readonly Tool[],
): Promise<void> {
  const write = output.raw ?? output.out;
  for await (const line of lines(input)) {
    if (line.trim() === "") continue;
    const answer = await answerTo(line, tools);
    if (answer !== undefined) write.call(output, JSON.stringify({ jsonrpc: "2.0", ...answer }));
  }
}

type Answer = { id: string | number | null } & (
  | { result: object }
  | { error: { code: number; message: string } }
);

/** Undefined for a notification, which has no answer. */
async function answerTo(line: string, tools: readonly Tool[]): Promise<Answer | undefined> {
  const request = read(line);
  if (request === undefined) return fault(null, FAULT.parse, "the line is not JSON");
  const { id, method, params = {} } = request;
  if (typeof method !== "string") {
    return fault(id ?? null, FAULT.request, "a request needs a method");
  }
  if (id === undefined) return undefined;
  if (method === "initialize") return { id, result: greeting(params) };
  if (method === "ping") return { id, result: {} };
  if (method === "tools/list") return { id, result: { tools: tools.map(described) } };
  if (method !== "tools/call") return fault(id, FAULT.method, `there is no method ${method}`);
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) return fault(id, FAULT.params, `there is no tool ${params.name}`);
  return { id, result: await use(tool, (params.arguments ?? {}) as Record<string, unknown>) };
}

function read(line: string): Request | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return undefined;
  }
}

function greeting({ protocolVersion }: Readonly<Record<string, unknown>>): object {
  const revision = REVISIONS.find((known) => known === protocolVersion) ?? REVISIONS[0];
  const serverInfo = { name: "sluice", version: VERSION };
  return { protocolVersion: revision, capabilities: { tools: {} }, serverInfo };
}

function described({ run: _, ...tool }: Tool): object {
  return tool;
}

/** A refusal is an answer that the assistant can read and act on, not a fault of the protocol. */
async function use(tool: Tool, given: Record<string, unknown>): Promise<object> {
  try {
    const text = JSON.stringify(await tool.run(given), null, 2);
    return { content: [{ type: "text", text }] };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const text = JSON.stringify({ error: error.toJSON() });
    return { content: [{ type: "text", text }], isError: true };
  }
}

function fault(id: string | number | null, code: number, message: string): Answer {
  return { id, error: { code, message } };
}
