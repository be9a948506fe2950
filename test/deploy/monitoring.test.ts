import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metricsWith } from "../telemetry/support.ts";

const read = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}

const dashboard = JSON.parse(read("grafana/dashboards/gateway.json")) as Dashboard;
const rules = (parse(read("prometheus/alerts.yml")) as Alerts).groups.flatMap((group) => group.rules);
const queries = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
];

const SCRAPED = new Set(["up"]);
/** Labels that Prometheus itself gives. */
const TARGET_LABELS = ["job", "instance", "le"];

const grouped = (expr: string) =>
  [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(",").map((label) => label.trim()));

async function exposed() {
  const { body } = await metricsWith().scrape();
  return new Set([...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
}

test.each(queries)("%s asks for metrics that exist: %s", async (_, expr) => {
  const names = await exposed();
  const asked = [...expr.matchAll(/\b(gateway_[a-z_]+|up)\b(?=\s*[{[)]|\s*$|\s*==|\))/g)].map(([, name]) => name!);
  expect(asked.length).toBeGreaterThan(0);
  for (const name of asked) {
    const base = name.replace(/_(?:bucket|sum|count)$/, "");
    expect(SCRAPED.has(name) || names.has(name) || names.has(base), `the metric ${name}`).toBe(true);
  }
});

test.each(queries)("%s groups by labels that its metrics have: %s", (_, expr) => {
  const source = ["metrics", "state-metrics", "counts"]
    .map((file) => readFileSync(new URL(`../../src/telemetry/${file}.ts`, import.meta.url), "utf8"))
    .join("\n");
  const labels = new Set(TARGET_LABELS);
  for (const [, name] of expr.matchAll(/\b(gateway_[a-z_]+?)(?:_bucket|_sum|_count)?\b/g)) {
    const declared =
      new RegExp(`name: "${name}(?:_count)?",[^}]*?labelNames: \\[([^\\]]*)\\]`, "s").exec(source)?.[1] ?? "";
    for (const [, label] of declared.matchAll(/"([a-z_]+)"/g)) labels.add(label!);
  }
  const used = [
    ...grouped(expr),
    ...[...expr.matchAll(/[{,]\s*([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  ];
  for (const label of used) expect([...labels]).toContain(label);
});

test("every summary says what to look at, and names labels that its query keeps", () => {
  for (const { alert, expr, annotations } of rules) {
    expect(annotations.summary, `the alert ${alert}`).not.toBe("");
    const kept = new Set(grouped(expr));
    const free = !expr.includes(" by (");
    for (const [, label] of annotations.summary.matchAll(/\$labels\.([a-z_]+)/g)) {
      expect(free || kept.has(label!), `${alert}: ${label}`).toBe(true);
    }
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

test("panels have ids of their own and do not overlap", () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const [index, { title, gridPos: a }] of panels.entries()) {
    expect(a.x + a.w, `the panel ${title}`).toBeLessThanOrEqual(24);
    for (const { title: other, gridPos: b } of panels.slice(index + 1)) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
      expect(apart, `${title} and ${other}`).toBe(true);
    }
  }
});
