/** The commands, in the order of the help text. */
import type { Command } from "../command.ts";
import { addCommand } from "./add.ts";
import { appCommands } from "./apps.ts";
import { benchCommand } from "./bench.ts";
import { callCommand } from "./call.ts";
import { clusterCommand } from "./cluster.ts";
import { completionOf } from "./completion.ts";
import { configCommand } from "./config.ts";
import { consumeCommand } from "./consume.ts";
import { gateCommand } from "./gate.ts";
import { jobCommand, whyCommand } from "./job.ts";
import { keysCommand } from "./keys.ts";
import { logCommand } from "./log.ts";
import { queueCommand } from "./queue.ts";
import { redriveCommand } from "./redrive.ts";
import { serveCommand } from "./serve.ts";
import { topCommand } from "./top.ts";
import { versionCommand } from "./version.ts";

export const COMMANDS: readonly Command[] = [
  serveCommand,
  queueCommand,
  addCommand,
  consumeCommand,
  jobCommand,
  whyCommand,
  gateCommand,
  redriveCommand,
  callCommand,
  topCommand,
  clusterCommand,
  benchCommand,
  logCommand,
  keysCommand,
  configCommand,
  ...appCommands,
  completionOf(() => COMMANDS),
  versionCommand,
];
