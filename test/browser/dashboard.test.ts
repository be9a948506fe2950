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

  test("from a mail address that nobody knows to a first answer, and what it cost", () =>
    stage.visit({}, async ({ page }) => {
      const email = "ada@example.com";
      await page.goto(stage.url);
      await page.getByRole("textbox", { name: "Mail address" }).fill(email);
      await page.getByRole("button", { name: "Send me a code" }).click();
      const code = await stage.code(email);
      await page.getByLabel("Code of 6 digits").fill(code === "000000" ? "000001" : "000000");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("have another code sent").waitFor();
      await page.getByLabel("Code of 6 digits").fill(code);
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
      await exchange.getByRole("link", { name: "in the activity" }).click();
      await page.getByRole("row", { name: /route\/swift/ }).waitFor();
      expect(await page.getByRole("row", { name: /route\/swift/ }).count()).toBe(1);

      // The page is left and comes back: the cookie alone renews the session.
      await page.reload();
      await page.getByRole("row", { name: /route\/swift/ }).waitFor();
      await page.getByRole("link", { name: "API keys", exact: true }).click();
      await page.getByText("No keys yet").waitFor();
      expect(
        await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])"),
      ).not.toMatch(/eyJ|rt_|rk_/);
    }));

  test("a link of `gateway dev` signs in once; after that the page says what to do, and the code field has the focus", async () => {
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
      await page.getByText("Start gateway dev again for a new link").waitFor();
      await page.getByRole("button", { name: "Send me a code" }).click();
      await page.getByLabel("Code of 6 digits").waitFor();
      expect(await page.evaluate<string>("document.activeElement.name")).toBe("code");
      await page.keyboard.type(await stage.code(email));
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    });
  });

  test("at an identity provider and back, by its button, also after it was refused there", () =>
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
        await page.getByRole("textbox", { name: "Mail address" }).waitFor();
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
      await refusal.getByText("You could not be signed in with corp.").waitFor();
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

  test("a key is made, shown once, used, and refused once it is revoked", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email } = await stage.guest();
      await stage.signIn(visitor, email, "/keys");
      await page.getByRole("button", { name: "Make a key" }).click();
      await page.getByLabel("Name").fill(MARKUP);
      await page.getByLabel("Models").fill("route/sw*");
      await page.getByLabel("Budget in credits").fill("0.5");
      await page.getByRole("button", { name: "Make key", exact: true }).click();
      const made = page.getByRole("dialog");
      const secret = await made.locator("code").first().innerText();
      expect(secret).toMatch(/^rk_[0-9a-f]{64}$/);
      await made.getByRole("button", { name: /^Copy the key/ }).click();
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(secret);
      await made.getByRole("button", { name: "I have copied it" }).click();
      expect(await page.content()).not.toContain(secret);

      expect((await stage.chat(secret, "route/swift")).status).toBe(200);
      const refused = await stage.chat(secret, "route/deep");
      expect([refused.status, refused.headers["x-error-code"]]).toEqual([403, "MODEL_NOT_ALLOWED"]);
      await page.reload();
      const row = page.getByRole("row", { name: MARKUP });
      await row.getByText("route/sw*").waitFor();
      await row.getByText(/of 0\.50 credits a month/).waitFor();

      await row.getByRole("button", { name: /^Edit/ }).click();
      await page.getByLabel("Scope").selectOption("Reading usage only");
      await page.getByLabel("Addresses").fill("nowhere");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("is no address or CIDR").waitFor();
      await page.getByLabel("Addresses").fill("127.0.0.1, 10.0.0.0/8");
      await page.getByRole("button", { name: "Save" }).click();
      await row.getByText("Reading usage only, from 127.0.0.1, 10.0.0.0/8").waitFor();
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
      await made.getByRole("button", { name: "I have copied it" }).click();
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

  test("a limit that is reached is seen before the request, and told by the one that is refused", () =>
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

  test("a stream of a program is seen, and ended by one button", () =>
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
      await page.getByRole("dialog").getByRole("button", { name: "Stop them" }).click();
      await page.getByText("1 stream stopped").waitFor();
      const { text, whole } = await stream.whole();
      expect([whole, text.includes("[DONE]")]).toEqual([true, true]);
      await page.getByText("None at this moment.").waitFor();
    }));

  test("an answer of the playground is ended, and what had come stays", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      const { email, id } = await stage.guest();
      await stage.signIn(visitor, email, "/playground?model=route/long");
      await page.getByLabel("Message", { exact: true }).fill("Go on and on.");
      await page.getByRole("button", { name: "Send" }).click();
      const exchange = page.getByRole("article", { name: "Exchange 1" });
      await exchange.getByText("You said").waitFor();
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await exchange.getByText("Stopped. What had been written is charged.").waitFor();
      await exchange.getByText("You said").waitFor();
      await eventually(async () => (await stage.gateway.store.running(id)).streams === 0);
      // Its key goes when the page is left.
      await page.getByRole("link", { name: "Models", exact: true }).click();
      const names = async () => (await stage.gateway.store.listKeys(id)).map(({ name }) => name);
      await eventually(async () => (await names()).length === 1);
      expect(await names()).toEqual(["laptop"]);
    }));

  test("markup in names, addresses and errors of providers is text", () =>
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

  test("who signs out is out, also in the browser's history", () =>
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

  test("who signs out everywhere is out in other browsers, too", () =>
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
