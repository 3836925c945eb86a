// Makes a call of a history at a real broker, and answers in the history's words.

import type { Broker, ErrorJson, Outcome } from "@sluice/protocol";
import { bodyOf } from "./body.ts";
import type { ItemAnswer, PortCall } from "./record.ts";

type Made = Exclude<PortCall, { call: "poll" }>;

// The call is made before this returns. Calls with items have an answer for each of them.
export async function perform(broker: Broker, call: Made): Promise<ItemAnswer[]> {
  const answer = await made(broker, call);
  return Array.isArray(answer) ? answer.map(itemOf) : [{ ok: answer ?? true }];
}

function itemOf(outcome: Outcome<unknown>): ItemAnswer {
  const { error } = outcome as { error?: ErrorJson };
  return error === undefined ? { ok: outcome.ok } : { error: error.code };
}

function made(broker: Broker, call: Made): Promise<unknown> {
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
    case "retry":
      return broker[call.call](call.ids);
    case "cancelByKey":
      return broker.cancelByKey(call.queue, call.keys);
    case "setQueue":
      return broker.setQueue(call.queue, call.options).then(() => true);
    case "deleteQueue":
    case "purge":
    case "redrive":
      return broker[call.call](call.queue);
    case "setGate":
      return broker.setGate(call.gate, call.config).then(() => true);
    case "deleteGate":
    case "clearCooldown":
      return broker[call.call](call.gate);
    case "cooldown":
      return broker.cooldown(call.gate, call.ms);
    case "storeWrite":
      return broker.storeWrite(call.store, call.entries);
    default:
      throw new Error(`no such call: ${(call as PortCall).call}`);
  }
}
