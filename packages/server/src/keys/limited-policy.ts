import type { QueueOptions } from "@sluice/protocol";
import { forbiddenGate, isAmong } from "./grant.ts";
import type { Permit } from "./permit.ts";

/**
 * A queue's policy puts gates on jobs, and failures of those jobs may cool these gates down. A
 * policy must give no rights that the key which sets it does not have. So the gates that it names
 * must be among the key's, and `cools` is stored with it: the gates that the key may cool down.
 */
export function limitedPolicy(permit: Permit, queue: string, options: QueueOptions): QueueOptions {
  const policy = options?.policy;
  if (typeof policy !== "object" || policy === null) return options;
  const names = permit.nameable(queue);
  if (names !== undefined) {
    // It cannot be known beforehand which gates a program names.
    if (policy.lua !== undefined) throw forbiddenGate("set a program that may name every", "*");
    for (const template of listOf(policy.gates)) {
      const pattern = patternOf(template);
      if (!isAmong(names, pattern)) throw forbiddenGate("set a policy that names", pattern);
    }
  }
  const coolable = permit.coolable();
  if (coolable === undefined) return options;
  const more = listOf(policy.cools).find((pattern) => !isAmong(coolable, pattern));
  if (more !== undefined) throw forbiddenGate("let workers cool down", more);
  if (policy.cools !== undefined) return options;
  return { ...options, policy: { ...policy, cools: [...new Set(coolable)] } };
}

/** All that a template can make begins with what precedes its first place. */
function patternOf(template: string): string {
  const place = template.indexOf("{");
  return place === -1 ? template : `${template.slice(0, place)}*`;
}

/** The broker refuses values that are no lists of texts. */
function listOf(texts: unknown): string[] {
  return Array.isArray(texts) ? texts.map(String) : [];
}
