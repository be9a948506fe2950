import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../e2e/support/http.ts";
import { required } from "../support/programs.ts";
import { BROWSERS } from "./support/browser.ts";
import { type Guest, OPERATOR_TOKEN, Stage } from "./support/stage.ts";

describe.skipIf(!required(...BROWSERS))("what an operator changes in the console", () => {
  let stage: Stage;
  let guest: Guest;
  beforeAll(async () => {
    stage = await Stage.set();
    guest = await stage.guest();
  });
  afterAll(() => stage.close());

  test("drains an upstream with a reason, serves from the rest of the chain, and clears the override", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/upstreams");
      await page.getByRole("button", { name: "Override… aurora" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Reason").fill("their <b>maintenance</b>");
      await dialog.getByRole("button", { name: "Apply override" }).click();
      await dialog.waitFor({ state: "detached" });
      const row = page.getByRole("row", { name: /aurora/ });
      await row.getByText("drained").waitFor();
      expect(await stage.chat(guest.key, "route/swift")).toMatchObject({ status: 200 });
      await row.getByRole("link", { name: "aurora" }).click();
      await page.getByText("drain by olga: their <b>maintenance</b>").waitFor();
      await page.getByRole("link", { name: "Models" }).click();
      await page.getByRole("link", { name: "route/swift" }).click();
      const chain = page.getByRole("list", { name: "Request path for route/swift" });
      await chain.getByText("drained").waitFor();
      await chain.getByText("served 100%").waitFor();
      await page.getByRole("link", { name: "1 override active" }).click();
      await row.getByRole("button", { name: "Clear override" }).click();
      await dialog.getByRole("button", { name: "Clear override" }).click();
      await row.getByText("drained").waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Audit log" }).click();
      await page.getByRole("row", { name: /liftUpstreamManual/ }).waitFor();
    }));

  test("rolls back to an earlier configuration, after showing the effects", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/generations");
      await page.getByRole("row", { name: /start/ }).waitFor();
      await stage.write({ models: { "route/swift": { price: { input_per_million: 4, output_per_million: 8 } } } });
      await page.getByRole("row", { name: /file change.*1 breaking/ }).waitFor();
      const dialog = page.getByRole("dialog");
      await page.getByRole("button", { name: "Roll back…" }).click();
      await dialog.getByRole("row", { name: /price lowered.*route\/swift.*4 → 2/ }).waitFor();
      await dialog.getByRole("button", { name: "Roll back" }).click();
      await page.getByRole("row", { name: /rollback current/ }).waitFor();
      await page.getByRole("link", { name: "Current configuration" }).click();
      await page.getByText(/is not serving: a rollback was asked for/).waitFor();
      await stage.write({ models: { "route/swift": { price: { input_per_million: 2, output_per_million: 8 } } } });
      await page.getByText(/is not serving/).waitFor({ state: "detached" });
      expect(await page.getByText("configuration rejected").count()).toBe(0);
    }));

  test("explains a request as a diagram of its path, with the question in the URL", () =>
    stage.visit({ device: "phone", theme: "dark" }, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/explain?model=route/deep&tier=Free");
      const way = page.getByRole("list", { name: "Request path" });
      await way.getByRole("listitem").filter({ hasText: "plan-check" }).getByText("refused", { exact: true }).waitFor();
      await page.getByLabel("Plan").selectOption("Max");
      await page.getByText("More options: upstreams that are down").click();
      await page.getByRole("group", { name: "Assume these are down" }).getByLabel("borealis").check();
      await page.getByRole("button", { name: "Explain" }).click();
      await way
        .getByRole("listitem")
        .filter({ hasText: "borealis-large" })
        .getByText("failed", { exact: true })
        .waitFor();
      await way
        .getByRole("listitem")
        .filter({ hasText: "aurora-large" })
        .getByText("served", { exact: true })
        .waitFor();
      expect(page.url()).toContain("tier=Max&down=borealis");
    }));

  test("pages, filters and exports the ledger", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      for (let count = 0; count < 60; count += 1) await stage.chat(guest.key, "route/swift");
      await stage.chat(guest.key, "route/odd");
      await stage.signInAdmin(visitor, OPERATOR_TOKEN);
      await page.getByRole("link", { name: "Ledger" }).click();
      const rows = page.getByRole("table", { name: "Ledger" }).locator("tbody tr");
      await eventually(async () => (await rows.count()) === 50);
      await page.getByRole("button", { name: "Next →" }).click();
      await page.getByText("Page 2").waitFor();
      await page.getByLabel("Outcome").selectOption("client_fault");
      await eventually(async () => (await rows.count()) === 1);
      expect(page.url()).toContain("outcome=client_fault");
      const download = page.waitForEvent("download");
      await page.getByRole("link", { name: "Export NDJSON" }).click();
      const lines: string[] = [];
      for await (const chunk of await (await download).createReadStream()) lines.push(String(chunk));
      const entries = lines
        .join("")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { outcome: string });
      expect(entries.map(({ outcome }) => outcome)).toEqual(["client_fault"]);
      await page.getByRole("link", { name: "Usage" }).click();
      await page.getByRole("row", { name: /route\/swift/ }).waitFor();
    }));

  test("creates a user, grants credits with a reason, creates a working key, and disables the user", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const dialog = page.getByRole("dialog");
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/users");
      await page.getByRole("button", { name: "Create user" }).click();
      await dialog.getByLabel("Email").fill("grace@example.com");
      await dialog.getByLabel("Plan").selectOption("Premium");
      await dialog.getByLabel("Starting credits").fill("1");
      await dialog.getByRole("button", { name: "Create user" }).click();
      await page.getByRole("heading", { name: "grace@example.com" }).waitFor();
      await page.getByRole("button", { name: "Grant credits…" }).click();
      await dialog.getByLabel("Amount").fill("0");
      await dialog.getByLabel("Reason").fill("ticket <b>7</b>");
      await dialog.getByRole("button", { name: "Grant credits" }).click();
      await dialog.getByText("must not be 0").waitFor();
      await dialog.getByLabel("Amount").fill("2.5");
      await dialog.getByRole("button", { name: "Grant credits" }).click();
      await page.getByRole("row", { name: /2\.50 3\.50 ticket <b>7<\/b> olga/ }).waitFor();
      await page.getByRole("button", { name: "Create key…" }).click();
      await dialog.getByLabel("Name").fill("laptop");
      await dialog.getByLabel("Models").fill("route/swift");
      await dialog.getByRole("button", { name: "Create key" }).click();
      const key = await dialog.getByLabel("API key", { exact: true }).innerText();
      await dialog.getByRole("button", { name: "Done" }).click();
      expect((await stage.chat(key, "route/swift")).status).toBe(200);
      expect((await stage.chat(key, "route/deep")).status).toBe(403);
      await page.getByRole("row", { name: /laptop.*route\/swift/ }).waitFor();
      await page.getByRole("button", { name: "Edit laptop" }).click();
      await dialog.getByLabel("Models").fill("route/deep");
      await dialog.getByLabel("Scope").selectOption("Inference only");
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByRole("row", { name: /laptop.*route\/deep.*Inference only/ }).waitFor();
      expect((await stage.chat(key, "route/swift")).status).toBe(403);
      await page.getByRole("button", { name: "Roll laptop" }).click();
      await dialog.getByLabel("Keep the old key working").selectOption("No, revoke it now");
      await dialog.getByRole("button", { name: "Roll key" }).click();
      const next = await dialog.getByLabel("API key", { exact: true }).innerText();
      await dialog.getByRole("button", { name: "Done" }).click();
      expect([(await stage.chat(key, "route/deep")).status, (await stage.chat(next, "route/deep")).status]).toEqual([
        401, 200,
      ]);
      await page.getByRole("button", { name: "Disable…" }).click();
      await dialog.getByRole("button", { name: "Disable" }).click();
      await page.getByRole("button", { name: "Enable…" }).waitFor();
      await eventually(async () => (await stage.chat(next, "route/deep")).status === 401);
      await page.getByRole("link", { name: "← All users" }).click();
      await page.getByLabel("State").selectOption("Disabled");
      await page.getByRole("link", { name: "grace@example.com" }).click();
      await page.getByRole("button", { name: "Delete…" }).click();
      await dialog.getByRole("button", { name: "Delete user" }).click();
      await page.getByRole("heading", { name: "Users", level: 1 }).waitFor();
      await page.getByText("grace@example.com").first().waitFor({ state: "detached" });
    }));

  test("shows live data, and reconnects after the connection was lost", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      visitor.expectFault(/admin\/events|ERR_/);
      await stage.signInAdmin(visitor, OPERATOR_TOKEN);
      const live = page.getByRole("banner").getByText("live", { exact: true });
      await live.waitFor();
      await eventually(async () => {
        await stage.chat(guest.key, "route/swift");
        return page
          .getByText("First token, p95")
          .locator("..")
          .getByText(/\d m?s/)
          .first()
          .isVisible();
      }, 15_000);
      await stage.stop();
      await page.getByText(/no live data/).waitFor();
      await page.getByText("The gateway is not responding. This page may be out of date").waitFor();
      await stage.start();
      await live.waitFor({ timeout: 25_000 });
      expect(await page.getByText(/no live data/).count()).toBe(0);
    }));
});
