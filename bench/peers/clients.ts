// Loaded one by one: a process speaks to one system.

import type { ClientName, Connect } from "./system.ts";

export const CLIENTS: Readonly<Record<ClientName, () => Promise<{ connect: Connect }>>> = {
  sluice: () => import("./clients/sluice.ts"),
  bullmq: () => import("./clients/bullmq.ts"),
  "bee-queue": () => import("./clients/bee-queue.ts"),
  "pg-boss": () => import("./clients/pg-boss.ts"),
  graphile: () => import("./clients/graphile.ts"),
  jetstream: () => import("./clients/jetstream.ts"),
  rabbitmq: () => import("./clients/rabbitmq.ts"),
  beanstalkd: () => import("./clients/beanstalkd.ts"),
};
