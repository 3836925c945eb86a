import assert from "node:assert/strict";
import { test } from "node:test";
import { CALL_NAMES, rowOf } from "@sluice/protocol";
import { place } from "../testing/sluice.ts";

test("any call of the API can be made by its name, with what its row says", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  const { text: id } = await sluice("add mail", '{"n":1}', "--lane", "acme", "--create");
  assert.deepEqual(JSON.parse((await sluice("call setLaneWeight mail acme 7")).text), { ok: true });
  const lanes = JSON.parse((await sluice("call lanes mail sort=weight limit=1 --json")).text);
  assert.deepEqual([lanes.items[0].key, lanes.items[0].weight], ["acme", 7]);
  assert.deepEqual(JSON.parse((await sluice(`call queuesOf ${id},none`)).text), ["mail", null]);
  assert.deepEqual(JSON.parse((await sluice(`call job ${id}`)).text).payload, { n: 1 });
  await sluice("call storeWrite state", '[{"key":"a","value":[1]}]', "operationId=w1");
  assert.deepEqual(await broker.storeGet("state", ["a"]), [[1]]);
  const gone = await sluice("call cancel none");
  assert.deepEqual([gone.code, JSON.parse(gone.text)[0].error.code], [1, "JOB_NOT_FOUND"]);
  const { text: help } = await sluice("help call");
  for (const name of CALL_NAMES.filter((one) => !rowOf(one).isHot)) {
    assert.match(help, new RegExp(`^  ${name}\\b.*\\n +${rowOf(name).says.slice(0, 9)}`, "m"));
  }
});

for (const [line, said] of [
  ["call", /there is no call ""/],
  ["call add mail", /there is no call "add"/],
  ["call queue", /queue must be a name, got undefined/],
  ["call lanes mail limit=0", /limit must be an integer from 1 to 1000, got 0/],
  ["call lanes mail page=2", /options.page is not a known field/],
  ["call purge mail now", /option=value is needed, got "now"/],
] as const) {
  test(`"${line}" makes no sense, and that is said with the usage of that call`, async (t) => {
    const { sluice } = await place(t);
    const { code, remarks } = await sluice(line);
    assert.equal(code, 2);
    assert.match(remarks, said);
    assert.ok(remarks.trim().split("\n").length <= 6, remarks);
  });
}
