// Makes a call of a history at a real broker, and answers in the history's words.

import type { Broker, ErrorJson, Outcome } from "@sluice/protocol";
import { bodyOf } from "./body.ts";
import type { ItemAnswer, PortCall } from "./record.ts";

type Made = Exclude<PortCall, { call: "poll" }>;

// The call is made before this returns.
export function perform(broker: Broker, call: Made): Promise<ItemAnswer[]> {
  const batch = batchOf(broker, call);
  if (batch !== undefined) return batch.then((outcomes) => outcomes.map(itemOf));
  return single(broker, call).then((answer) => [{ ok: answer ?? true }]);
}

function itemOf(outcome: Outcome<unknown>): ItemAnswer {
  const { error } = outcome as { error?: ErrorJson };
  return error === undefined ? { ok: outcome.ok } : { error: error.code };
}

// Calls with one answer for each of their items.
function batchOf(broker: Broker, call: Made): Promise<Outcome<unknown>[]> | undefined {
  switch (call.call) {
    case "add":
      return broker.add(
        call.queue,
        call.jobs.map(({ number, ...options }) => ({ ...options, ...bodyOf(number) })),
      );
    case "ack":
      return broker.ack(call.leases.map((lease) => ({ lease })));
    case "giveBack":
      return broker.giveBack(call.leases);
    case "nack":
      return broker.nack(call.items);
    case "extend":
      return broker.extend(call.items);
    case "cancel":
      return broker.cancel(call.ids);
    case "retry":
      return broker.retry(call.ids);
    case "cancelByKey":
      return broker.cancelByKey(call.queue, call.keys);
    default:
      return undefined;
  }
}

function single(broker: Broker, call: Made): Promise<unknown> {
  switch (call.call) {
    case "setQueue":
      return broker.setQueue(call.queue, call.options).then(() => true);
    case "deleteQueue":
      return broker.deleteQueue(call.queue);
    case "purge":
      return broker.purge(call.queue);
    case "redrive":
      return broker.redrive(call.queue);
    case "setGate":
      return broker.setGate(call.gate, call.config).then(() => true);
    case "deleteGate":
      return broker.deleteGate(call.gate);
    case "cooldown":
      return broker.cooldown(call.gate, call.ms);
    case "clearCooldown":
      return broker.clearCooldown(call.gate);
    case "storeWrite":
      return broker.storeWrite(call.store, call.entries);
    default:
      throw new Error(`no such call: ${call.call}`);
  }
}
