import { after, test } from "node:test";
import { followDeadLetter, pager } from "./dead-letter.ts";
import { Stage } from "./stage.ts";

const { server, host } = await pager();
const stage = await Stage.start("--webhook-hosts", host);
after(async () => {
  await stage.close();
  server.closeAllConnections();
  server.close();
});

test("a dead letter goes from the webhook to the finished job on the page alone", () =>
  stage.look("", (page) => followDeadLetter(page, stage.server, server, async () => {})));
