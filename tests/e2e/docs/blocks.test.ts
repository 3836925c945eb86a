import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, isAsShown } from "./blocks.ts";

const PAGE = `
# A page
\`\`\`ts
only shown
\`\`\`
\`\`\`ts first.ts
a
\`\`\`
\`\`\`sh
node first.ts   # says a
# a comment
curl x \\
  -d y
false  # exits with 1
\`\`\`
\`\`\`text
a
\`\`\`
`;

test("a page is files, commands and outputs, in their order", () => {
  assert.deepEqual(blocksOf(PAGE), [
    { kind: "file", name: "first.ts", text: "a\n", line: 6 },
    {
      kind: "commands",
      commands: [
        { line: "node first.ts", exitCode: 0 },
        { line: "curl x    -d y", exitCode: 0 },
        { line: "false", exitCode: 1 },
      ],
      line: 9,
    },
    { kind: "output", text: "a\n", line: 16 },
  ]);
});

test("an output is compared line by line, with gaps and digits", () => {
  assert.equal(isAsShown("a\n...\nc\n", "a\nb\nb\nc\n"), true);
  assert.equal(isAsShown("a\nc\n", "a\nb\nc\n"), false);
  assert.equal(isAsShown("took # ms\n", "took 12 ms\n"), true);
  assert.equal(isAsShown("took # ms\n", "took long ms\n"), false);
});
