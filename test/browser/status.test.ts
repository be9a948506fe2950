import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../support/programs.ts";
import { accessibilityFaults, BROWSERS } from "./support/browser.ts";
import { MARKUP, Stage } from "./support/stage.ts";

describe.skipIf(!required(...BROWSERS))("the status page", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.set();
  });
  afterAll(() => stage.close());

  test("shows measured states and the start and end of an outage; shows names as text", () =>
    stage.visit({}, async ({ page }) => {
      const guest = await stage.guest();
      await page.goto(`${stage.url}/status`);
      await page.getByText("All models are available.").waitFor();
      await page.getByText(MARKUP).first().waitFor();
      await page.getByText("No provider has been taken out of service.").waitFor();
      await page.getByText("Move to another region").waitFor();

      stage.flaky.mode = "down";
      for (let count = 0; count < 3; count += 1) await stage.chat(guest.key, "route/swift");
      await page.reload();
      await page.getByText("All models are available. 1 model uses a fallback provider.").waitFor();
      const outages = page.getByRole("table", { name: "Provider outages" });
      await outages.getByText("Ongoing").waitFor();
      expect(await outages.getByRole("row").count()).toBe(2);
      expect(await accessibilityFaults(page)).toEqual([]);

      stage.flaky.mode = "well";
      await expect
        .poll(
          async () => {
            await stage.chat(guest.key, "route/swift");
            await page.reload();
            await page.getByText("All models are available").waitFor();
            return outages.getByText("Ongoing").count();
          },
          { timeout: 20_000, interval: 300 },
        )
        .toBe(0);
      await page.getByText("All models are available.", { exact: true }).waitFor();
    }));
});
