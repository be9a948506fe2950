import { expect, test } from "vitest";
import { TABLE } from "../../src/dialects/vendors/rules.ts";
import type { RuledVendor } from "../../src/dialects/vendors/types.ts";
import { STRICT_VENDORS } from "../../src/simulator/strict/rule.ts";
import { TARGETS } from "./targets.ts";

/* A row of the tables without a target would be a family of models that nothing is ever sent to. */

test.each(STRICT_VENDORS)("%s has a target", (vendor) => {
  expect(TARGETS.some((target) => target.vendor === vendor)).toBe(true);
});

// Azure's rows are OpenAI's.
const families = Object.entries(TABLE)
  .filter(([vendor]) => vendor !== "azure")
  .flatMap(([vendor, { models = [] }]) =>
    models.map(({ match }, index) => [vendor as RuledVendor, String(match), index] as const),
  );

test.each(families)("%s has a target of the family %s", (vendor, _, index) => {
  const { models = [] } = TABLE[vendor];
  const first = (model: string): number => models.findIndex(({ match }) => match.test(model));
  const found = TARGETS.filter((target) => target.vendor === vendor).map(({ model }) => first(model));
  expect(found).toContain(index);
});
