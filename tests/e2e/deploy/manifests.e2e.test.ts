// Compose files and manifests of Kubernetes: every field that docs/operating.md names.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { DashboardServer, freePort } from "../dashboard/server.ts";
import { builtExecutable } from "../executable/build.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
const deploy = join(root, "deploy");
const program = builtExecutable();
const PORT = 7070;
const USER = 65_532;
// How long a node waits for others to take its partitions, and a server for what is under way.
const HAND_OVER_S = 15;
const CLOSE_S = closeSeconds();

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked into by the tests.
type Manifest = any;

function closeSeconds(): number {
  const limits = readFileSync(join(root, "packages/server/src/limits.ts"), "utf8");
  const [, ms = ""] = /CLOSE_TIMEOUT_MS = ([\d_]+)/.exec(limits) ?? [];
  return Number(ms.replaceAll("_", "")) / 1000;
}

function read(path: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(path, "utf8"), { merge: true });
  for (const { errors, warnings } of documents) assert.deepEqual([...errors, ...warnings], []);
  return documents.map((document) => document.toJS());
}

function help(...args: string[]): string {
  return execFileSync(program, [...args, "--help"], { encoding: "utf8", env: {} });
}

const COMMANDS = help();
const SERVE_OPTIONS = help("serve");

// `SLUICE_NODE` is `--node` of `sluice serve`.
function checkSettings(names: readonly string[]): void {
  for (const name of names.filter((one) => one.startsWith("SLUICE_"))) {
    const option = name.slice("SLUICE_".length).toLowerCase().replaceAll("_", "-");
    assert.match(SERVE_OPTIONS, new RegExp(`^  --${option}\\b`, "m"), name);
  }
}

let server: DashboardServer;
before(async () => {
  server = await DashboardServer.start("--durability", "memory");
});
after(() => server[Symbol.asyncDispose]());

for (const path of globSync("kubernetes/*.yaml", { cwd: deploy }).sort()) {
  test(`${basename(path)}: probes, ports, grace period, rights and settings are true`, async () => {
    const manifests = read(join(deploy, path));
    const set = manifests.find(({ kind }) => kind === "StatefulSet");
    const pod = set.spec.template.spec;
    const [container] = pod.containers;

    assert.deepEqual(set.spec.selector.matchLabels, set.spec.template.metadata.labels);
    assert.ok(
      manifests.some(
        ({ kind, metadata }) => kind === "Service" && metadata.name === set.spec.serviceName,
      ),
    );
    for (const { spec } of manifests.filter(({ kind }) => kind === "Service")) {
      assert.deepEqual(spec.selector, set.spec.template.metadata.labels);
      assert.deepEqual(spec.ports, [{ name: "http", port: PORT, targetPort: "http" }]);
    }
    assert.deepEqual(container.ports, [{ name: "http", containerPort: PORT }]);

    assert.equal(container.livenessProbe.httpGet.path, "/healthz");
    assert.equal(container.readinessProbe.httpGet.path, "/readyz");
    for (const probe of [container.livenessProbe, container.readinessProbe]) {
      assert.equal(probe.httpGet.port, "http");
      assert.equal((await server.call(`GET ${probe.httpGet.path}`)).status, 200);
    }

    assert.ok(pod.terminationGracePeriodSeconds > CLOSE_S + HAND_OVER_S);
    assert.deepEqual(
      [pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser],
      [true, USER],
    );
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    checkSettings(container.env.map(({ name }: { name: string }) => name));
    assert.ok(container.env.some(({ name }: { name: string }) => name === "SLUICE_ROOT_KEY"));
  });
}

test("one server keeps its data in a volume, at the place that the image names", () => {
  const set = read(join(deploy, "kubernetes/sluice.yaml")).find(
    ({ kind }) => kind === "StatefulSet",
  );
  const [claim] = set.spec.volumeClaimTemplates;
  const [container] = set.spec.template.spec.containers;
  assert.equal(set.spec.replicas, 1);
  assert.deepEqual(container.volumeMounts, [{ name: claim.metadata.name, mountPath: "/data" }]);
  const image = readFileSync(join(deploy, "Containerfile"), "utf8");
  assert.match(image, /SLUICE_DIR=\/data\b/);
  assert.match(image, new RegExp(`EXPOSE ${PORT}\\b`));
});

for (const path of globSync("compose/*.yaml", { cwd: deploy }).sort()) {
  test(`${basename(path)}: volumes, grace period, rights and settings are true`, () => {
    const [file] = read(join(deploy, path));
    const services: Manifest[] = Object.values(file.services);
    // What creates the cluster ends by itself.
    const own = services.filter(
      ({ image, command }) => image === "sluice" && command[0] !== "cluster",
    );
    assert.ok(own.length > 0);
    for (const { command, stop_grace_period, read_only, cap_drop, environment = {} } of own) {
      assert.match(COMMANDS, new RegExp(`^  sluice ${command[0]} `, "m"));
      assert.ok(Number.parseInt(stop_grace_period, 10) > CLOSE_S + HAND_OVER_S);
      assert.deepEqual([read_only, cap_drop], [true, ["ALL"]]);
      checkSettings(Object.keys(environment));
    }
    const volumes = services.flatMap((service) => service.volumes ?? []);
    const named = volumes
      .map((volume: string) => volume.split(":")[0])
      .filter((name) => !name?.startsWith("."));
    assert.deepEqual(named.sort(), Object.keys(file.volumes).sort());
  });
}

for (const app of ["jobserver", "torznab", "retracker"]) {
  test(`${app}: starts with the settings of its compose file`, async (t) => {
    const [file] = read(join(deploy, `compose/${app}.yaml`));
    const { command, environment } = file.services[app];
    const dir = mkdtempSync(join(tmpdir(), "sluice-compose-"));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const address = `127.0.0.1:${await freePort()}`;
    const env = Object.entries(environment as Record<string, string>).map(([name, value]) => [
      name,
      value
        .replace(/^0\.0\.0\.0:\d+$/, address)
        .replace(/^:\d+$/, `127.0.0.1:0`)
        .replace("/data", dir)
        .replace(/^\$\{.*\}$/, "a key that callers show, of more than 32"),
    ]);
    const child = spawn(program, command, { cwd: dir, env: Object.fromEntries(env) });
    t.after(() => child.kill());
    await new Promise<void>((resolve, reject) => {
      let said = "";
      const hear = (text: string): void => {
        said += text;
        if (said.includes(address)) resolve();
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("exit", () => reject(new Error(`${app} ended: ${said}`)));
    });
    assert.equal((await fetch(`http://${address}/healthz`)).status, 200);
    assert.ok(readdirSync(dir).length > 0, "its data is where the volume is");
  });
}
