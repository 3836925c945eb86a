// The broker on the network: producer, server and consumer in processes of their own.

import type { Bench } from "../figure.ts";
import { filaGroups } from "./fila.ts";
import { throughputGroups } from "./throughput.ts";

export const streamBench: Bench = { name: "stream", groups: [...throughputGroups, ...filaGroups] };
