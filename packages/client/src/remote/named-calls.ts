/** The calls of the port that travel by their names: made from the table of calls. */
import {
  type CallName,
  type CallOptions,
  callsOf,
  defineCalls,
  type OperationOptions,
  rowOf,
} from "@sluice/protocol";
import { KIND, readAnswer, type WireName, writeCall } from "@sluice/protocol/wire";
import type { Ask } from "./operations.ts";

type Hot = "add" | "ack" | "nack" | "giveBack" | "extend";

export abstract class NamedCalls extends callsOf<Exclude<CallName, Hot>>() {
  protected abstract call<T>(
    name: WireName,
    args: readonly unknown[],
    options?: OperationOptions,
  ): Promise<T>;

  protected abstract operationId(): string;

  protected ask<T>(name: WireName, args: readonly unknown[]): Ask<T> {
    return {
      name,
      kind: KIND.call,
      write: (writer) => writeCall(writer, name, args),
      read: (reader) => readAnswer(reader, name) as T,
    };
  }

  /** What one partition of a cluster asks another: no part of the port, and refused to users. */
  async lend(request: object): Promise<object> {
    return this.call("lend", [request]);
  }

  /** Makes a call of the table. One that must not take effect twice gets an operation id. */
  async named(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const row = rowOf(name);
    const own = row.args.length;
    const given = (args[own] ?? {}) as OperationOptions;
    const { operationId = this.operationId() } = given;
    const options = row.repeat === "once" ? { ...given, operationId } : given;
    const sent = travelling(options);
    const fixed = row.args.map((_, i) => args[i]);
    return this.call(name, sent === undefined ? fixed : [...fixed, sent], options);
  }
}

defineCalls(NamedCalls, (name) => (self, args) => self.named(name, args));

/** How long the caller waits is its own matter and does not travel. */
function travelling(options: CallOptions): object | undefined {
  const { signal: _signal, timeout: _timeout, ...rest } = options;
  return Object.keys(rest).length === 0 ? undefined : rest;
}
