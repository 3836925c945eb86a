import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openFolder } from "../testing/folder.ts";
import { SecretCipher } from "./secret-cipher.ts";

test("a sealed secret opens only with the same key and purpose", () => {
  const cipher = new SecretCipher(randomBytes(32));
  const sealed = cipher.seal("key:a", "a secret, ünïcode too");
  assert.equal(cipher.unseal("key:a", sealed), "a secret, ünïcode too");
  assert.equal(cipher.unseal("key:b", sealed), undefined);
  assert.equal(new SecretCipher(randomBytes(32)).unseal("key:a", sealed), undefined);
  assert.notEqual(cipher.seal("key:a", "x"), cipher.seal("key:a", "x"));
  for (const token of ["", "AAAA", "!".repeat(100), `${sealed}AAAA`, sealed.slice(0, -2)]) {
    assert.equal(cipher.unseal("key:a", token), undefined, token);
  }
});

test("the key file is made once, for its owner alone", async (t) => {
  const { dir } = await openFolder(t);
  const path = join(dir, "a.key");
  const sealed = (await SecretCipher.open(path)).seal("p", "x");
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await SecretCipher.open(path)).unseal("p", sealed), "x");
  await writeFile(join(dir, "short.key"), "short");
  await assert.rejects(SecretCipher.open(join(dir, "short.key")), /must hold 32 bytes, it holds 5/);
});
