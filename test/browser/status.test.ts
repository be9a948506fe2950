import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../support/programs.ts";
import { accessibilityFaults, BROWSERS, type Device, overflowPx, screenshot, type Theme } from "./support/browser.ts";
import { MARKUP, Stage } from "./support/stage.ts";

describe.skipIf(!required(...BROWSERS))("the status page", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.set();
  });
  afterAll(() => stage.close());

  test.each([
    ["desktop", "light"],
    ["phone", "dark"],
  ] satisfies [Device, Theme][])("on a %s, %s", (device, theme) =>
    stage.visit({ device, theme }, async ({ page }) => {
      await page.goto(`${stage.url}/status`);
      await page.getByText("Every model is served.").waitFor();
      await page.getByText(MARKUP).first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await overflowPx(page)).toBeLessThanOrEqual(0);
      await screenshot(page, `status-${device}-${theme}`);
    }),
  );
});
