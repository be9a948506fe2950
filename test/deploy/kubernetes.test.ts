import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { isRecord } from "../../src/config/schema.ts";
import { required } from "../support/programs.ts";

const FOLDER = fileURLToPath(new URL("../../deploy", import.meta.url));

type Resource = Readonly<Record<string, unknown>>;

/** The value at a path of keys and indexes; undefined where there is none. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return inner[Number(key)] as unknown;
    return isRecord(inner) ? inner[key] : undefined;
  }, value);
}

describe.runIf(required("kubectl"))("the kustomization", () => {
  let resources: readonly Resource[] = [];
  const find = (kind: string, name = "route-gateway"): Resource => {
    const found = resources.find((resource) => resource["kind"] === kind && at(resource, "metadata", "name") === name);
    if (found === undefined) throw new Error(`no ${kind} ${name}`);
    return found;
  };
  const pod = () => at(find("Deployment"), "spec", "template", "spec");
  const container = () => at(pod(), "containers", 0);

  beforeAll(() => {
    const text = execFileSync("kubectl", ["kustomize", FOLDER], { encoding: "utf8" });
    resources = parseAllDocuments(text).map((document) => document.toJS() as Resource);
  });

  test("renders every resource, once", () => {
    const names = resources.map(
      (resource) => `${String(resource["kind"])} ${String(at(resource, "metadata", "name"))}`,
    );
    expect(names.toSorted()).toEqual([
      "ConfigMap route-gateway",
      "Deployment route-gateway",
      "HorizontalPodAutoscaler route-gateway",
      "PodDisruptionBudget route-gateway",
      "Service route-gateway",
      "Service route-gateway-admin",
      "ServiceMonitor route-gateway",
    ]);
    const labelled = resources.filter((resource) => at(resource, "metadata", "labels", "app.kubernetes.io/name"));
    expect(labelled).toHaveLength(resources.length);
  });

  test("selectors choose the pods, ports and targets that exist", () => {
    const labels = at(find("Deployment"), "spec", "template", "metadata", "labels");
    for (const selector of [
      at(find("Deployment"), "spec", "selector", "matchLabels"),
      at(find("Service"), "spec", "selector"),
      at(find("Service", "route-gateway-admin"), "spec", "selector"),
      at(find("PodDisruptionBudget"), "spec", "selector", "matchLabels"),
    ]) {
      expect(labels).toMatchObject(selector as object);
    }
    expect(at(find("ServiceMonitor"), "spec", "selector", "matchLabels")).toEqual({
      "app.kubernetes.io/component": at(
        find("Service", "route-gateway-admin"),
        "metadata",
        "labels",
        "app.kubernetes.io/component",
      ),
    });
    const ports = new Map([
      ["http", 8080],
      ["admin", 9090],
    ]);
    expect(at(container(), "ports")).toEqual([...ports].map(([name, containerPort]) => ({ name, containerPort })));
    for (const name of ["route-gateway", "route-gateway-admin"]) {
      expect(ports.has(String(at(find("Service", name), "spec", "ports", 0, "targetPort")))).toBe(true);
    }
    expect(at(find("HorizontalPodAutoscaler"), "spec", "scaleTargetRef")).toMatchObject({
      kind: "Deployment",
      name: "route-gateway",
    });
  });

  test("the configuration is mounted as a folder, so that an edit arrives", () => {
    const mount = at(container(), "volumeMounts", 0);
    expect(mount).toEqual({ name: "config", mountPath: "/etc/gateway", readOnly: true });
    expect(at(pod(), "volumes", 0)).toEqual({ name: "config", configMap: { name: "route-gateway" } });
    expect(at(find("ConfigMap"), "data", "gateway.yaml")).toContain("version: 1");
  });

  test("a pod has longer to stop than its drain takes", () => {
    const config: unknown = parse(String(at(find("ConfigMap"), "data", "gateway.yaml")));
    const seconds = (key: string) => Number(/^(\d+)s$/.exec(String(at(config, "server", "drain", key)))?.[1]);
    const grace = Number(at(pod(), "terminationGracePeriodSeconds"));
    expect(grace).toBeGreaterThan(seconds("delay") + seconds("timeout") + 5);
    // Endpoints must have heard before new connections are refused.
    expect(seconds("delay")).toBeGreaterThan(Number(at(container(), "readinessProbe", "periodSeconds")));
  });

  test("nothing runs as root or writes to its image", () => {
    expect(at(pod(), "securityContext")).toMatchObject({ runAsNonRoot: true });
    expect(at(container(), "securityContext")).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("probes are those of the admin listener", () => {
    const probe = (name: string) => at(container(), name, "httpGet");
    expect(probe("livenessProbe")).toEqual({ path: "/livez", port: "admin" });
    expect(probe("startupProbe")).toEqual({ path: "/livez", port: "admin" });
    expect(probe("readinessProbe")).toEqual({ path: "/readyz", port: "admin" });
    expect(at(find("ServiceMonitor"), "spec", "endpoints", 0)).toMatchObject({ port: "admin", path: "/metrics" });
  });
});

test.runIf(required("kubectl"))("a kustomization that is wrong does not render", () => {
  const { status, stderr } = spawnSync("kubectl", ["kustomize", `${FOLDER}/grafana`], { encoding: "utf8" });
  expect(status).not.toBe(0);
  expect(stderr).toContain("kustomization");
});
