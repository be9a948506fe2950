import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { isRecord } from "../../src/config/schema.ts";
import { checkConfig } from "../../src/index.ts";
import { ROOT } from "../e2e/support/process.ts";
import { programOf } from "../support/programs.ts";

const CHART = join(ROOT, "deploy/helm/route-gateway");
const read = (...path: readonly string[]): string => readFileSync(join(CHART, ...path), "utf8");
const templates = readdirSync(join(CHART, "templates"));
const values = parse(read("values.yaml")) as Readonly<Record<string, unknown>>;
const schema = JSON.parse(read("values.schema.json")) as Schema;

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** The value at a path of keys and indexes; undefined where there is none. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return inner[Number(key)] as unknown;
    return isRecord(inner) ? inner[key] : undefined;
  }, value);
}

/** A template without its actions: both sides of each `if`, and a word in place of each value. */
function plain(name: string): unknown[] {
  const text = read("templates", name)
    .replaceAll(/^\s*\{\{-? ?.*\}\}\s*\n/gm, "")
    .replaceAll(/"\{\{.*?\}\}(?::\{\{.*?\}\})?"/g, "word")
    .replaceAll(/\{\{.*?\}\}/g, "word");
  return parseAllDocuments(text, { uniqueKeys: false }).map((document) => document.toJS() as unknown);
}

const HELM = programOf("helm");

/** What `helm template` makes of the chart with these values. */
function render(more: object): readonly Readonly<Record<string, unknown>>[] {
  const folder = mkdtempSync(join(tmpdir(), "gateway-helm-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "values.yaml"), JSON.stringify(more));
  const text = execFileSync(HELM!, ["template", "gateway", CHART, "--values", join(folder, "values.yaml")], {
    encoding: "utf8",
  });
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown> | null);
  return documents.filter((document) => document !== null);
}

function kinds(more: object): string[] {
  return render(more)
    .map((resource) => String(resource["kind"]))
    .toSorted();
}

describe("the chart's values", () => {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);

  test("are what their schema allows, and nothing else is", () => {
    expect([validate(values), validate.errors]).toEqual([true, null]);
    for (const wrong of [
      { replica: 2 },
      { replicas: 1.5 },
      { redis: { urls: "redis://store" } },
      { redis: { url: "memory:" } },
      { image: { pullPolicy: "Sometimes" } },
      { config: "" },
      { config: {} },
      { env: [{ value: "no name" }] },
      { ports: { http: 0 } },
    ]) {
      expect([wrong, validate({ ...values, ...wrong })]).toEqual([wrong, false]);
    }
  });

  test("and their schema have the same keys, each with a description", () => {
    const faults = (part: Schema, value: unknown, path: string): readonly string[] => {
      const described = path === "" || part.description?.endsWith(".") ? [] : [`${path} has no description`];
      if (part.properties === undefined) return described;
      const keys = Object.keys(part.properties).filter((key) => key !== "global");
      const missing = keys.filter((key) => at(value, key) === undefined).map((key) => `${path}/${key} has no default`);
      const extra = Object.keys(value as object).filter((key) => !keys.includes(key));
      return [
        ...described,
        ...missing,
        ...extra.map((key) => `${path}/${key} is not in the schema`),
        ...(part.additionalProperties === false ? [] : [`${path} takes any key`]),
        ...keys.flatMap((key) => faults(part.properties![key]!, at(value, key), `${path}/${key}`)),
      ];
    };
    expect(faults(schema, values, "")).toEqual([]);
  });

  test("are each used by a template, and no template uses another", () => {
    const texts = templates.map((name) => read("templates", name)).join("\n");
    const used = [...texts.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path]) => path!.slice(1).split("."));
    for (const path of used) expect([path, at(values, ...path)]).toEqual([path, expect.anything()]);
    const tops = new Set(used.map(([top]) => top!));
    expect([...tops].toSorted()).toEqual(Object.keys(values).toSorted());
  });

  test("have a configuration that is valid without a warning, and that of the other deployments", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gateway-helm-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "gateway.yaml");
    writeFileSync(file, String(values["config"]));
    const secret = "0123456789abcdef0123456789abcdef";
    const env = { GATEWAY_ADMIN_TOKEN: secret, GATEWAY_JWT_SECRET: secret, OPENAI_API_KEY: "a-key-of-the-provider" };
    const { ok, diagnostics } = await checkConfig({ file, env });
    expect([ok, diagnostics]).toEqual([true, []]);
    const own = parse(String(values["config"])) as { readonly store: { readonly url: string } };
    const other = parse(readFileSync(join(ROOT, "deploy/config/gateway.yaml"), "utf8")) as typeof own;
    expect(own).toEqual({ ...other, store: { ...other.store, url: own.store.url } });
    expect(own.store.url).toBe("${env:GATEWAY_STORE_URL:-sqlite:/var/lib/gateway/gateway.db}");
  });
});

test("the guide's table names values that the chart has", () => {
  const guide = readFileSync(join(ROOT, "docs/operating.md"), "utf8");
  const [, section = ""] = /^### Kubernetes with Helm\n([^]*?)^### /m.exec(guide) ?? [];
  const named = [...section.matchAll(/^\| (`[^|]+) +\|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([\w.]+)`/g)]);
  expect(named.length).toBeGreaterThan(8);
  for (const [, path] of named) expect([path, at(values, ...path!.split("."))]).toEqual([path, expect.anything()]);
});

test("the chart's appVersion is the package's version", () => {
  const { appVersion } = parse(read("Chart.yaml")) as { readonly appVersion: string };
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };
  expect(appVersion).toBe(version);
});

describe("the chart's templates", () => {
  test.each(templates)("%s opens and closes its blocks, and includes what is defined", (name) => {
    const text = read("templates", name);
    const actions = [...text.matchAll(/\{\{-?\s*(\w+)/g)].map(([, word]) => word!);
    const count = (...words: readonly string[]): number => actions.filter((word) => words.includes(word)).length;
    expect(count("end")).toBe(count("if", "with", "range", "define"));
    const defined = [...read("templates/_helpers.tpl").matchAll(/define "([^"]+)"/g)].map(([, found]) => found!);
    for (const [, included] of text.matchAll(/include "([^"]+)"/g)) expect(defined).toContain(included);
  });

  test("are YAML, and run the container as the kustomization does", () => {
    for (const name of templates.filter((file) => file.endsWith(".yaml")))
      expect(plain(name)[0]).toHaveProperty("kind");
    const [workload] = plain("workload.yaml");
    const deployment = parse(readFileSync(join(ROOT, "deploy/kubernetes/deployment.yaml"), "utf8")) as unknown;
    const pod = ["spec", "template", "spec"] as const;
    for (const key of ["securityContext", "automountServiceAccountToken"])
      expect([key, at(workload, ...pod, key)]).toEqual([key, at(deployment, ...pod, key)]);
    const container = [...pod, "containers", 0] as const;
    const same = ["args", "securityContext", "startupProbe", "livenessProbe", "readinessProbe", "volumeMounts"];
    for (const key of same) {
      expect(at(deployment, ...container, key)).toBeDefined();
      expect([key, at(workload, ...container, key)]).toEqual([key, at(deployment, ...container, key)]);
    }
    expect(values["resources"]).toEqual(at(deployment, ...container, "resources"));
    expect(values["terminationGracePeriodSeconds"]).toBe(at(deployment, ...pod, "terminationGracePeriodSeconds"));
    const ports = at(deployment, ...container, "ports") as readonly { readonly containerPort: number }[];
    expect(Object.values(values["ports"] as object)).toEqual(ports.map(({ containerPort }) => containerPort));
  });

  test("restart no pod for an edit of the configuration: the pods reload it", () => {
    const texts = templates.map((name) => read("templates", name)).join("\n");
    expect(texts).not.toMatch(/sha256sum|checksum\/|(?:^\s*|[{,] )subPath:/m);
  });
});

describe.runIf(HELM !== null)("rendered by helm", () => {
  test("the chart passes its lint", () => {
    expect(spawnSync(HELM!, ["lint", "--strict", CHART]).status).toBe(0);
  });

  test("SQLite is a StatefulSet of one pod with a volume", () => {
    expect(kinds({})).toEqual(["ConfigMap", "PodDisruptionBudget", "Service", "Service", "StatefulSet"]);
    const workload = render({}).find(({ kind }) => kind === "StatefulSet");
    expect(at(workload, "spec", "replicas")).toBe(1);
    expect(at(workload, "spec", "volumeClaimTemplates", 0, "spec", "resources", "requests")).toEqual({
      storage: "10Gi",
    });
    const labels = at(workload, "spec", "template", "metadata", "labels");
    expect(labels).toMatchObject(at(workload, "spec", "selector", "matchLabels") as object);
    expect(() => render({ replicas: 2 })).toThrow("set redis.enabled");
  });

  test("Redis is a Deployment; everything optional renders", () => {
    const more = {
      redis: { enabled: true, url: "redis://store:6379/0" },
      replicas: 3,
      env: [{ name: "GATEWAY_WORKERS", value: "2" }],
      serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
      networkPolicy: { enabled: true },
      ingress: { enabled: true, hosts: ["gateway.example.com"], className: "nginx" },
      files: { "brief.ts": "export default {};\n" },
    };
    expect(kinds(more)).toEqual([
      "ConfigMap",
      "Deployment",
      "Ingress",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
      "Service",
      "ServiceMonitor",
    ]);
    expect(kinds({ ...more, autoscaling: { enabled: true } })).toContain("HorizontalPodAutoscaler");
    const resources = render(more);
    const config = resources.find(({ kind }) => kind === "ConfigMap");
    expect(at(config, "metadata", "name")).toBe("gateway-route-gateway");
    expect(at(config, "data", "brief.ts")).toBe("export default {};\n");
    expect(parse(String(at(config, "data", "gateway.yaml")))).toEqual(parse(String(values["config"])));
    const container = at(
      resources.find(({ kind }) => kind === "Deployment"),
      "spec",
      "template",
      "spec",
      "containers",
      0,
    );
    expect(at(container, "env")).toEqual([
      { name: "GATEWAY_STORE_URL", value: "redis://store:6379/0" },
      { name: "GATEWAY_WORKERS", value: "2" },
    ]);
  });
});
