import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForwarders } from "./forwarder-list.ts";

test("every key of an entry is read, and a bare address is an entry", () => {
  const text = `
- uri: https://tracker.example.org/announce?key=1
  name: main
  ip: 203.0.113.7
  host: other.example.org
  timeout: 5
  rate: 0.5
  concurrency: 2
  proxy: http://127.0.0.1:8080
  groups: [public]
- udp://udp.example.org:1337/announce
`;
  const { specs, problems } = parseForwarders(text, "f.yml");
  assert.deepEqual(problems, []);
  assert.deepEqual(specs[0], {
    uri: "https://tracker.example.org/announce?key=1",
    name: "main",
    protocol: "https",
    ip: "203.0.113.7",
    host: "other.example.org",
    timeoutMs: 5000,
    rate: 0.5,
    concurrency: 2,
    proxy: "http://127.0.0.1:8080",
    groups: ["public"],
    isPublicOnly: false,
  });
  assert.equal(specs[1]!.name, "udp.example.org");
  assert.equal(specs[1]!.protocol, "udp");
});

test("bad entries and duplicates are refused with line and reason, the others are taken", () => {
  const text = `- uri: udp://a.example:80/announce
- uri: udp://a.example:80/announce
- uri: ftp://b.example/announce
- uri: udp://c.example/announce
- uri: http://d.example/announce
  colour: red
- uri: http://e.example/announce
  timeout: 0
- name: nowhere
- uri: http://a.example/announce
- uri: http://user:secret@g.example/announce
- uri: http://f.example/announce
`;
  const { specs, problems } = parseForwarders(text, "f.yml");
  assert.deepEqual(
    specs.map(({ name }) => name),
    ["a.example", "http:a.example", "f.example"],
  );
  assert.deepEqual(
    problems.map((problem) => problem.split(":")[1]),
    ["2", "3", "4", "5", "7", "9", "11"],
  );
  assert.match(problems[0]!, /^f\.yml:2: .* is a duplicate of line 1$/);
  assert.match(problems[3]!, /"colour" is not a known key/);
  assert.ok(problems.every((problem) => !problem.includes("secret")));
});

test("a file that is not a list is refused as a whole", () => {
  assert.match(parseForwarders("a: 1", "f.yml").problems[0]!, /^f\.yml:1: must be a list/);
  assert.match(parseForwarders("- [", "f.yml").problems[0]!, /^f\.yml:\d+: /);
  assert.deepEqual(parseForwarders("", "f.yml"), { specs: [], problems: [] });
});

test("one host with several ports or protocols is several forwarders", () => {
  const uris = ["udp://h:1337/announce", "http://h:1337/announce", "udp://h:6969/announce"];
  const { specs, problems } = parseForwarders(JSON.stringify(uris), "f.yml");
  assert.deepEqual(problems, []);
  assert.deepEqual(
    specs.map(({ name }) => name),
    ["h", "h:1337", "h:6969"],
  );
});
