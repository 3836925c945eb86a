// The implementations of the Broker port: classes that implement it, and proxies around one.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import type { RanFile } from "./ran.ts";
import { type Syntax, visit } from "./syntax.ts";

const PACKAGES = join(import.meta.dirname, "..", "..", "packages");

// The layers of which a function ran, by name.
export function layersIn(ran: readonly RanFile[]): string[] {
  return ran.flatMap(({ path, functions }) => {
    const text = readFileSync(join(PACKAGES, path), "utf8");
    return layersOf(path, text)
      .filter(({ start, end }) => functions.some((one) => one.start >= start && one.end <= end))
      .map(({ name }) => `${name} (${path})`);
  });
}

interface Layer {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export function layersOf(path: string, text: string): Layer[] {
  const layers: Layer[] = [];
  const isAboutBrokers = /\bBroker\b/.test(text);
  visit(parseSync(path, text).program as unknown as Syntax, (node) => {
    const { start, end } = node;
    if (node.type === "ClassDeclaration" && implementsBroker(node)) {
      layers.push({ name: (node as unknown as { id: { name: string } }).id.name, start, end });
    }
    const isProxy = node.type === "NewExpression" && text.startsWith("new Proxy(", start);
    if (isProxy && isAboutBrokers) layers.push({ name: "a proxy", start, end });
  });
  return layers;
}

function implementsBroker(node: Syntax): boolean {
  const { implements: ports } = node as unknown as {
    implements?: readonly { expression: { name?: string } }[];
  };
  return ports?.some(({ expression }) => expression.name === "Broker") ?? false;
}
