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

  test("an upstream is drained by hand with a reason, its chain goes on, and it is lifted", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/upstreams");
      await page.getByRole("button", { name: "Set by hand… aurora" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Reason").fill("their <b>maintenance</b>");
      await dialog.getByRole("button", { name: "Set", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
      const row = page.getByRole("row", { name: /aurora/ });
      await row.getByText("drained").waitFor();
      expect(await stage.chat(guest.key, "route/swift")).toMatchObject({ status: 200 });
      await row.getByRole("link", { name: "aurora" }).click();
      await page.getByText("drain by olga: their <b>maintenance</b>").waitFor();
      await page.getByRole("link", { name: "Models" }).click();
      await page.getByRole("link", { name: "route/swift" }).click();
      const chain = page.getByRole("list", { name: "The way of a request for route/swift" });
      await chain.getByText("drained by hand").waitFor();
      await chain.getByText("served 100%").waitFor();
      await page.getByRole("link", { name: "1 upstream set by hand" }).click();
      await row.getByRole("button", { name: "Lift" }).click();
      await dialog.getByRole("button", { name: "Lift it" }).click();
      await row.getByText("drained").waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Audit log" }).click();
      await page.getByRole("row", { name: /liftUpstreamManual/ }).waitFor();
    }));

  test("a former configuration is returned to, after it was shown what that changes", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/generations");
      await page.getByRole("row", { name: /the start/ }).waitFor();
      await stage.write({ models: { "route/swift": { price: { input_per_million: 4, output_per_million: 8 } } } });
      await page.getByRole("row", { name: /a change of the file.*1 breaking/ }).waitFor();
      const dialog = page.getByRole("dialog");
      await page.getByRole("button", { name: "Return to it…" }).click();
      await dialog.getByRole("row", { name: /price lowered.*route\/swift.*4 → 2/ }).waitFor();
      await dialog.getByRole("button", { name: "Return to it" }).click();
      await page.getByRole("row", { name: /a rollback serves/ }).waitFor();
      await page.getByRole("link", { name: "In force" }).click();
      await page.getByText(/does not serve: a rollback was asked for/).waitFor();
      await stage.write({ models: { "route/swift": { price: { input_per_million: 2, output_per_million: 8 } } } });
      await page.getByText(/does not serve/).waitFor({ state: "detached" });
      expect(await page.getByText("file refused").count()).toBe(0);
    }));

  test("a request is explained as a picture of its way, and the question is in the address", () =>
    stage.visit({ device: "phone", theme: "dark" }, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/explain?model=route/deep&tier=Free");
      const way = page.getByRole("list", { name: "The way of the request" });
      await way.getByRole("listitem").filter({ hasText: "plan-check" }).getByText("refused", { exact: true }).waitFor();
      await page.getByLabel("Plan").selectOption("Max");
      await page.getByText("More: upstreams that are down").click();
      await page.getByRole("group", { name: "As if these were down" }).getByLabel("borealis").check();
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

  test("entries of the ledger are paged, filtered in the address, and exported", () =>
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

  test("a user is made, granted credits with a reason, given a key that works, and disabled", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const dialog = page.getByRole("dialog");
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/users");
      await page.getByRole("button", { name: "New user" }).click();
      await dialog.getByLabel("Mail address").fill("grace@example.com");
      await dialog.getByLabel("Plan").selectOption("Premium");
      await dialog.getByLabel("Credits to begin with").fill("1");
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByRole("heading", { name: "grace@example.com" }).waitFor();
      await page.getByRole("button", { name: "Grant credits…" }).click();
      await dialog.getByLabel("Amount").fill("0");
      await dialog.getByLabel("Reason").fill("ticket <b>7</b>");
      await dialog.getByRole("button", { name: "Grant" }).click();
      await dialog.getByText("must not be 0").waitFor();
      await dialog.getByLabel("Amount").fill("2.5");
      await dialog.getByRole("button", { name: "Grant" }).click();
      await page.getByRole("row", { name: /2\.50 3\.50 ticket <b>7<\/b> olga/ }).waitFor();
      await page.getByRole("button", { name: "New key…" }).click();
      await dialog.getByLabel("Name").fill("laptop");
      await dialog.getByLabel("Models").fill("route/swift");
      await dialog.getByRole("button", { name: "Make the key" }).click();
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
      await dialog.getByLabel("The old key still works").selectOption("Not at all: it stops now");
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

  test("figures come by themselves, and are taken up again after they broke off", () =>
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
      await page.getByText(/no figures/).waitFor();
      await page.getByText("The gateway does not answer. What is shown may be old").waitFor();
      await stage.start();
      await live.waitFor({ timeout: 25_000 });
      expect(await page.getByText(/no figures/).count()).toBe(0);
    }));
});
