import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { catalogueOf } from "../../../src/ui/console/catalogue.ts";

test("what the shipped configuration has to choose from", () => {
  const file: unknown = parse(readFileSync(new URL("../../../gateway.yaml", import.meta.url), "utf8"));
  const { tiers, models, upstreams } = catalogueOf([file]);
  expect(tiers).toEqual(["Free", "Lite", "Weekly", "Premium", "Max", "Ultra"]);
  expect(upstreams).toContain("aurora");
  const model = models.get("route/swift-mini")!;
  expect(model).toMatchObject({ tier: "Free", context_window: 128_000, features: ["tools", "vision"] });
  expect(model.price).toHaveProperty("input_per_million", 0.15);
  expect(model.plans).toEqual(tiers);
});

test("sections may be spread over files, and hold anything", () => {
  const files = [
    { tiers: { A: { access: "all" } } },
    null,
    { tiers: { B: { access: ["x"] } }, models: { m: null } },
    7,
  ];
  const { tiers, models } = catalogueOf(files);
  expect(tiers).toEqual(["A", "B"]);
  expect(models.get("m")).toMatchObject({ tier: "", plans: ["A"], features: [], context_window: null });
});
