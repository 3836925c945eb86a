// All gates: which configuration a key has, exactly or by the longest pattern.

import type { GateConfig } from "@sluice/engine";
import { costMax, ModelGate } from "./gate.ts";

export class Gates {
  readonly configs = new Map<string, GateConfig>();
  readonly #gates = new Map<string, ModelGate>();

  get(key: string): ModelGate {
    const known = this.#gates.get(key);
    if (known !== undefined) return known;
    const gate = new ModelGate(key);
    this.#gates.set(key, gate);
    this.#configure(gate, 0);
    return gate;
  }

  all(): IterableIterator<ModelGate> {
    return this.#gates.values();
  }

  set(keyOrPattern: string, config: GateConfig, now: number): void {
    this.configs.set(keyOrPattern, config);
    this.#changed(keyOrPattern, now);
  }

  delete(keyOrPattern: string, now: number): boolean {
    const was = this.configs.delete(keyOrPattern);
    this.#changed(keyOrPattern, now);
    return was;
  }

  costMax(keys: readonly string[]): number {
    return Math.min(Infinity, ...keys.map((key) => costMax(this.get(key).config)));
  }

  // The keys that wear this configuration now, or would without another that is closer.
  #changed(keyOrPattern: string, now: number): void {
    for (const gate of this.#gates.values()) {
      if (matches(keyOrPattern, gate.key)) this.#configure(gate, now);
    }
  }

  #configure(gate: ModelGate, now: number): void {
    const name = this.#nameFor(gate.key);
    const config = name === undefined ? undefined : this.configs.get(name);
    gate.pattern = name === gate.key ? undefined : name;
    if (config !== gate.config || config === undefined) gate.configure(config, now);
  }

  #nameFor(key: string): string | undefined {
    if (this.configs.has(key)) return key;
    const patterns = [...this.configs.keys()].filter((name) => matches(name, key));
    return patterns.sort((a, b) => b.length - a.length)[0];
  }
}

function matches(keyOrPattern: string, key: string): boolean {
  if (keyOrPattern === key) return true;
  return keyOrPattern.endsWith("*") && key.startsWith(keyOrPattern.slice(0, -1));
}
