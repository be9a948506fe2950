import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENT_SECRET, TestIssuer } from "../accounts/sign-in/issuer.ts";
import { eventually, Exchange } from "../e2e/support/http.ts";
import { required } from "../support/programs.ts";
import { accessibilityFaults, BROWSERS, screenshot } from "./support/browser.ts";
import { MARKUP, OPERATOR_TOKEN, REFUSAL, Stage } from "./support/stage.ts";

describe.skipIf(!required(...BROWSERS))("the dashboard", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.set();
  });
  afterAll(() => stage.close());

  test("leads from an unknown email to a first answer and its cost", () =>
    stage.visit({}, async ({ page }) => {
      const email = "ada@example.com";
      await page.goto(stage.url);
      await page.getByRole("textbox", { name: "Email" }).fill(email);
      await page.getByRole("button", { name: "Send code" }).click();
      const code = await stage.code(email);
      await page.getByLabel("6-digit code").fill(code === "000000" ? "000001" : "000000");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("send a new one").waitFor();
      await page.getByLabel("6-digit code").fill(code);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.getByText("2.50 credits").first().waitFor();

      await page.getByRole("link", { name: "Playground", exact: true }).click();
      await page.getByLabel("Message", { exact: true }).fill("What is a river?");
      await page.getByRole("button", { name: "Send" }).click();
      const exchange = page.getByRole("article", { name: "Exchange 1" });
      await exchange.getByText(/You said: What is a river\?/).waitFor();
      await exchange.getByText(/by aurora/i).waitFor();
      await exchange.getByText(/0\.\d+ credits/).waitFor();
      await exchange.getByRole("link", { name: "View in Activity" }).click();
      await page.getByRole("row", { name: /route\/swift/ }).waitFor();
      expect(await page.getByRole("row", { name: /route\/swift/ }).count()).toBe(1);

      // The page is left and comes back: the cookie alone renews the session.
      await page.reload();
      await page.getByRole("row", { name: /route\/swift/ }).waitFor();
      await page.getByRole("link", { name: "API keys", exact: true }).click();
      await page.getByText("No API keys yet").waitFor();
      expect(
        await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])"),
      ).not.toMatch(/eyJ|rt_|rk_/);
    }));

  test("signs in once with a `gateway dev` link; a used link shows what to do", async () => {
    const { email } = await stage.guest();
    const dashboard = `${stage.url}/#/?email=${email}&code=${stage.links.issue("user", email)}`;
    const console = `${stage.adminUrl}/console#/?code=${stage.links.issue("operator", OPERATOR_TOKEN)}`;
    await stage.visit({}, async ({ page }) => {
      for (const link of [dashboard, console]) {
        await page.goto(link);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        expect(page.url()).not.toContain("code=");
      }
      // Used up; this browser is signed in already.
      for (const link of [dashboard, console]) {
        await page.goto("about:blank");
        await page.goto(link);
        await page.getByRole("heading", { name: "Overview" }).waitFor();
      }
    });
    await stage.visit({}, async ({ page }) => {
      await page.goto(console);
      await page.getByText("Or sign in with the admin token").waitFor();
      await page.goto(dashboard);
      await page.getByText("Restart gateway dev to get a new link").waitFor();
      await page.getByRole("button", { name: "Send code" }).click();
      await page.getByLabel("6-digit code").waitFor();
      expect(await page.evaluate<string>("document.activeElement.name")).toBe("code");
      await page.keyboard.type(await stage.code(email));
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    });
  });

  test("signs in at an identity provider, also after a refusal there", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      // The provider's own page has no icon.
      visitor.expectFault(/favicon\.ico/);
      const issuer = await TestIssuer.start();
      const corp = { issuer: issuer.url, client_id: "gateway", client_secret: CLIENT_SECRET };
      await stage.write({ auth: { oauth: { corp } } });
      const button = page.getByRole("link", { name: "corp" });
      // Until the file has been read again.
      await eventually(async () => {
        await page.goto(stage.url);
        await page.getByRole("textbox", { name: "Email" }).waitFor();
        return button.isVisible();
      }, 15_000);
      // As somebody who says no at the provider comes back.
      issuer.redirect = (url) => {
        url.searchParams.delete("code");
        url.searchParams.set("error", "access_denied");
        url.searchParams.set("error_description", MARKUP);
      };
      await button.click();
      const refusal = page.getByRole("alert");
      await refusal.getByText("Sign-in with corp failed.").waitFor();
      expect(page.url()).toBe(`${stage.url}/#/`);
      expect(await accessibilityFaults(page)).toEqual([]);
      await screenshot(page, "sign-in-refused");
      issuer.redirect = () => {};
      await refusal.getByRole("link", { name: "Try again" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect(new URL(page.url()).origin).toBe(stage.url);
      await page.getByRole("link", { name: "Account", exact: true }).click();
      await page.getByText("grace@example.com").first().waitFor();
    }));

  test("creates a key, shows it once, and rejects it once it is revoked", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email } = await stage.guest();
      await stage.signIn(visitor, email, "/keys");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByLabel("Name").fill(MARKUP);
      await page.getByLabel("Models").fill("route/sw*");
      await page.getByLabel("Budget in credits").fill("0.5");
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      const made = page.getByRole("dialog");
      const secret = await made.locator("code").first().innerText();
      expect(secret).toMatch(/^rk_[0-9a-f]{64}$/);
      await made.getByRole("button", { name: /^Copy the key/ }).click();
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(secret);
      await made.getByRole("button", { name: "I have copied the key" }).click();
      expect(await page.content()).not.toContain(secret);

      expect((await stage.chat(secret, "route/swift")).status).toBe(200);
      const refused = await stage.chat(secret, "route/deep");
      expect([refused.status, refused.headers["x-error-code"]]).toEqual([403, "MODEL_NOT_ALLOWED"]);
      await page.reload();
      const row = page.getByRole("row", { name: MARKUP });
      await row.getByText("route/sw*").waitFor();
      await row.getByText(/of 0\.50 credits per month/).waitFor();

      await row.getByRole("button", { name: /^Edit/ }).click();
      await page.getByLabel("Scope").selectOption("Usage only");
      await page.getByLabel("IP addresses").fill("nowhere");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("is no address or CIDR").waitFor();
      await page.getByLabel("IP addresses").fill("127.0.0.1, 10.0.0.0/8");
      await page.getByRole("button", { name: "Save" }).click();
      await row.getByText("Usage only, from 127.0.0.1, 10.0.0.0/8").waitFor();
      const restricted = await stage.chat(secret, "route/swift");
      expect([restricted.status, restricted.headers["x-error-code"]]).toEqual([403, "KEY_RESTRICTED"]);
      await row.getByRole("button", { name: /^Edit/ }).click();
      expect(await page.getByLabel("Models").inputValue()).toBe("route/sw*");
      await page.getByLabel("Scope").selectOption("Inference and usage");
      await page.getByRole("button", { name: "Save" }).click();
      await row.getByText("from 127.0.0.1, 10.0.0.0/8", { exact: true }).waitFor();

      await row.getByRole("button", { name: /^Roll/ }).click();
      await page.getByRole("button", { name: "Roll key" }).click();
      const next = await made.locator("code").first().innerText();
      await made.getByRole("button", { name: "I have copied the key" }).click();
      for (const key of [secret, next]) expect((await stage.chat(key, "route/swift")).status).toBe(200);
      const old = page.getByRole("row", { name: MARKUP }).filter({ hasText: "rolled" });
      await old.getByText(/^in (23|24) h/).waitFor();
      await old.getByRole("button", { name: /^Revoke/ }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
      await old.waitFor({ state: "detached" });
      expect((await stage.chat(secret, "route/swift")).status).toBe(401);

      await row.getByRole("button", { name: /^Revoke/ }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
      await row.waitFor({ state: "detached" });
      expect((await stage.chat(next, "route/swift")).status).toBe(401);
    }));

  test("shows a reached limit, before a request and in the error", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email, key } = await stage.guest({ tier: "Tiny" });
      for (let count = 0; count < 3; count += 1) await stage.chat(key, "route/swift");
      await stage.signIn(visitor, email);
      await page.getByText("3 of 3 requests, 0 left").waitFor();
      await page.getByText("limit reached").waitFor();
      expect(await page.getByRole("meter", { name: "Today" }).getAttribute("aria-valuenow")).toBe("3");

      await page.getByRole("link", { name: "Playground", exact: true }).click();
      await page.getByLabel("Message", { exact: true }).fill("One more?");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").getByText("Daily request limit exceeded", { exact: true }).waitFor();
      expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("One more?");
    }));

  test("lists a stream of a program, and stops it with one button", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email, key } = await stage.guest();
      const stream = new Exchange(`${stage.url}/v1/chat/completions`, {
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: { model: "route/long", stream: true, messages: [{ role: "user", content: "Go on and on." }] },
      });
      await stream.until("content");
      await stage.signIn(visitor, email);
      await page.getByRole("row", { name: /route\/long/ }).waitFor();
      await page.getByRole("button", { name: "Stop all" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Stop all" }).click();
      await page.getByText("1 stream stopped").waitFor();
      const { text, whole } = await stream.whole();
      expect([whole, text.includes("[DONE]")]).toEqual([true, true]);
      await page.getByText("No running streams.").waitFor();
    }));

  test("stops an answer in the playground, and keeps its text", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email, id } = await stage.guest();
      await stage.signIn(visitor, email, "/playground?model=route/long");
      await page.getByLabel("Message", { exact: true }).fill("Go on and on.");
      await page.getByRole("button", { name: "Send" }).click();
      const exchange = page.getByRole("article", { name: "Exchange 1" });
      await exchange.getByText("You said").waitFor();
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await exchange.getByText("Stopped. You are charged for what was generated.").waitFor();
      await exchange.getByText("You said").waitFor();
      await eventually(async () => (await stage.gateway.store.running(id)).streams === 0);
      // Its key goes when the page is left.
      await page.getByRole("link", { name: "Models", exact: true }).click();
      const names = async () => (await stage.gateway.store.listKeys(id)).map(({ name }) => name);
      await eventually(async () => (await names()).length === 1);
      expect(await names()).toEqual(["laptop"]);
    }));

  test("shows markup in names, emails and provider errors as text", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email } = await stage.guest({ email: "{{7*7}}'&amp$`x`=*@example.com" });
      await stage.signIn(visitor, email, "/account");
      await page.getByText(email).first().waitFor();
      await page.getByRole("link", { name: "Models", exact: true }).click();
      await page.getByText("route/odd").first().waitFor();
      await page.goto(`${stage.url}/#/playground?model=route/odd`);
      await page.getByLabel("Message", { exact: true }).fill(MARKUP);
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText(`Invalid request: ${REFUSAL}`).waitFor();
      expect(await page.title()).not.toBe("run");
      expect(await page.locator("main img, main b").count()).toBe(0);
    }));

  test("signs out, also in the history of the browser", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email } = await stage.guest();
      await stage.signIn(visitor, email, "/account");
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await page.getByRole("dialog").getByRole("button").last().click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await page.reload();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await page.getByText(email).count()).toBe(0);
    }));

  test("signs out everywhere, including other browsers", () =>
    stage.visit({}, async (first) => {
      const { email } = await stage.guest();
      await stage.signIn(first, email, "/account");
      await stage.visit({}, async (second) => {
        await stage.signIn(second, email, "/account");
        await second.page.getByRole("button", { name: "Sign out everywhere" }).click();
        await second.page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
        await second.page.getByRole("heading", { name: "Sign in" }).waitFor();
      });
      await first.page.reload();
      await first.page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await first.page.getByText(email).count()).toBe(0);
    }));
});
