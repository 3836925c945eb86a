import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "./needs.ts";

const missing = "@sluice/not-installed";

test("a package that is not installed is named, with the command that installs it", async () => {
  const load = (): Promise<unknown> => import(missing);
  await assert.rejects(needs("sluice serve", [missing], load), {
    code: "NOT_FOUND",
    message: `sluice serve needs ${missing}: npm install ${missing}`,
  });
});

test("another error stays what it is", async () => {
  const error = new Error("its own fault");
  await assert.rejects(
    needs("sluice serve", [missing], () => Promise.reject(error)),
    error,
  );
  const other = (): Promise<unknown> => import(missing);
  await assert.rejects(needs("sluice serve", ["@sluice/server"], other), {
    code: "ERR_MODULE_NOT_FOUND",
  });
});
