import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../e2e/support/http.ts";
import { required } from "../support/programs.ts";
import {
  accessibilityFaults,
  API,
  BROWSERS,
  HEIGHTS_PX,
  overflowPx,
  screenshot,
  WIDTHS_PX,
} from "./support/browser.ts";
import { type Guest, OPERATOR_TOKEN, Stage } from "./support/stage.ts";

const DASHBOARD = ["/", "/keys", "/models", "/playground", "/activity", "/usage", "/account", "/nothing"];
const CONSOLE = [
  "/",
  "/upstreams",
  "/models",
  "/models/route%2Fswift",
  "/streams",
  "/instances",
  "/users",
  "/ledger",
  "/usage",
  "/configuration",
  "/generations",
  "/explain",
  "/plugins",
  "/audit",
  "/nothing",
];

const TAKES_SCREENSHOTS = (process.env["SCREENSHOTS"] ?? "") !== "";

/** Everything that is wrong with a page as one sees it, in both themes and at both widths. */
async function faultsOf(page: Page, name: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    // Colours change with the next frame.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const rules = theme === "light" ? undefined : ["color-contrast"];
    for (const fault of await accessibilityFaults(page, rules)) faults.push(`${name}, ${theme}: ${fault}`);
    // Colours change no width.
    const devices = theme === "light" || TAKES_SCREENSHOTS ? (["desktop", "phone"] as const) : [];
    for (const device of devices) {
      await page.setViewportSize({ width: WIDTHS_PX[device], height: HEIGHTS_PX[device] });
      const overflow = await overflowPx(page);
      if (overflow > 0) faults.push(`${name}, ${device}: ${overflow} px wider than the window`);
      await screenshot(page, `${name}-${device}-${theme}`);
    }
    await page.setViewportSize({ width: WIDTHS_PX.desktop, height: HEIGHTS_PX.desktop });
  }
  return faults;
}

/** The same of what is open over a page, at the width that it has. */
async function faultsInBothThemes(page: Page, name: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    for (const fault of await accessibilityFaults(page)) faults.push(`${name}, ${theme}: ${fault}`);
    await screenshot(page, `${name}-${theme}`);
  }
  return faults;
}

async function settled(page: Page): Promise<void> {
  await page.locator("main h1").waitFor();
  await eventually(async () => (await page.locator(".loading").count()) === 0, 15_000);
}

const MAX_PAGE_BYTES = 120_000;

interface Loaded {
  readonly requests: number;
  readonly bytes: number;
  readonly interactiveMs: number;
}

/** What a first visit takes: files as they are sent, and the time until the page can be used. */
async function loaded(page: Page, url: string): Promise<Loaded> {
  const startedAt = performance.now();
  await page.goto(url);
  await settled(page);
  const interactiveMs = Math.round(performance.now() - startedAt);
  const files = await page.evaluate<{ readonly name: string; readonly encodedBodySize: number }[]>(
    "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((one) => one.toJSON())",
  );
  const own = files.filter(({ name }) => !API.test(new URL(name).pathname));
  return { requests: files.length, bytes: own.reduce((sum, one) => sum + one.encodedBodySize, 0), interactiveMs };
}

describe.skipIf(!required(...BROWSERS))("every page, light and dark, on a desktop and on a phone", () => {
  let stage: Stage;
  let guest: Guest;
  beforeAll(async () => {
    stage = await Stage.set();
    guest = await stage.guest({ email: "ada@example.com" });
    for (const model of ["route/swift", "route/swift", "route/deep", "route/odd"]) await stage.chat(guest.key, model);
    stage.flaky.mode = "down";
    for (let count = 0; count < 3; count += 1) await stage.chat(guest.key, "route/swift");
    await stage.guest({ email: "grace@example.com", tier: "Free", credits: "0.5" });
  });
  afterAll(() => stage.close());

  test("for everybody", () =>
    stage.visit({}, async ({ page }) => {
      const faults: string[] = [];
      for (const [name, url] of [
        ["status", `${stage.url}/status`],
        ["sign-in", `${stage.url}/`],
        ["console-sign-in", `${stage.adminUrl}/console`],
      ] as const) {
        await page.goto(url);
        await settled(page);
        faults.push(...(await faultsOf(page, name)));
      }
      expect(faults).toEqual([]);
    }));

  test("each is small: its files, compressed, and what a first visit takes", async () => {
    const rows: Record<string, Loaded> = {};
    for (const [name, url] of [
      ["dashboard", `${stage.url}/`],
      ["status", `${stage.url}/status`],
      ["console", `${stage.adminUrl}/console`],
    ] as const) {
      await stage.visit({}, async (visitor) => {
        if (name === "dashboard") await stage.signIn(visitor, guest.email);
        if (name === "console") await stage.signInAdmin(visitor);
        await visitor.page.goto("about:blank");
        const session = await visitor.context.newCDPSession(visitor.page);
        await session.send("Network.clearBrowserCache");
        rows[name] = await loaded(visitor.page, url);
      });
    }
    console.table(rows);
    for (const [name, { bytes }] of Object.entries(rows)) {
      expect([name, bytes]).toEqual([name, expect.toSatisfy((size: number) => size > 5_000 && size <= MAX_PAGE_BYTES)]);
    }
  });

  test(
    "of the dashboard",
    () =>
      stage.visit({}, async (visitor) => {
        const { page } = visitor;
        await stage.signIn(visitor, guest.email);
        const faults: string[] = [];
        for (const view of DASHBOARD) {
          await page.goto(`${stage.url}/#${view}`);
          await settled(page);
          faults.push(...(await faultsOf(page, `dashboard${view.replaceAll("/", "-")}`)));
        }
        expect(faults).toEqual([]);
      }),
    60_000,
  );

  test(
    "of the console",
    () =>
      stage.visit({}, async (visitor) => {
        const { page } = visitor;
        await stage.signInAdmin(visitor);
        const faults: string[] = [];
        for (const view of [...CONSOLE, `/users/${guest.id}`]) {
          await page.goto(`${stage.adminUrl}/console#${view}`);
          await settled(page);
          faults.push(...(await faultsOf(page, `console${view.replaceAll(/[/%]/g, "-").slice(0, 20)}`)));
        }
        expect(faults).toEqual([]);
      }),
    90_000,
  );

  test(
    "of dialogs of the dashboard",
    () =>
      stage.visit({}, async (visitor) => {
        const { page } = visitor;
        const dialog = page.getByRole("dialog");
        const faults: string[] = [];
        await stage.signIn(visitor, guest.email, "/keys");
        await page.getByRole("button", { name: "Create key" }).click();
        await dialog.getByLabel("Name").fill("laptop");
        await dialog.getByLabel("Budget in credits").fill("0");
        await dialog.getByRole("button", { name: "Create key" }).click();
        await dialog.getByRole("button", { name: "Create key", disabled: false }).waitFor();
        await page.locator("[aria-invalid=true]").waitFor();
        faults.push(...(await faultsInBothThemes(page, "dialog-make-key")));
        await dialog.getByLabel("Budget in credits").fill("");
        await dialog.getByRole("button", { name: "Create key" }).click();
        await dialog.getByRole("button", { name: "I have copied the key" }).waitFor();
        faults.push(...(await faultsInBothThemes(page, "dialog-key-shown")));
        await dialog.getByRole("button", { name: "I have copied the key" }).click();
        await page.getByRole("button", { name: "Roll laptop" }).first().click();
        await dialog.getByRole("button", { name: "Roll key" }).waitFor();
        faults.push(...(await faultsInBothThemes(page, "dialog-roll")));
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await page.getByRole("button", { name: "Revoke laptop" }).first().click();
        await dialog.getByRole("button", { name: "Revoke key" }).waitFor();
        faults.push(...(await faultsInBothThemes(page, "dialog-revoke")));
        expect(faults).toEqual([]);
      }),
    60_000,
  );

  test(
    "of dialogs of the console",
    () =>
      stage.visit({}, async (visitor) => {
        const { page } = visitor;
        const dialog = page.getByRole("dialog");
        const faults: string[] = [];
        const look = async (name: string, button: string): Promise<void> => {
          await page.getByRole("button", { name: button }).first().click();
          await dialog.waitFor();
          await settled(page);
          faults.push(...(await faultsInBothThemes(page, name)));
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "detached" });
        };
        await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/upstreams");
        await look("dialog-manual", "Override… aurora");
        await page.goto(`${stage.adminUrl}/console#/users/${guest.id}`);
        await look("dialog-grant", "Grant credits…");
        await look("dialog-new-key", "Create key…");
        await look("dialog-delete-user", "Delete…");
        await stage.write({ models: { "route/swift": { price: { input_per_million: 4, output_per_million: 8 } } } });
        await page.goto(`${stage.adminUrl}/console#/generations`);
        await look("dialog-rollback", "Roll back…");
        expect(faults).toEqual([]);
      }),
    60_000,
  );

  test("of the menu on a phone", () =>
    stage.visit({ device: "phone" }, async (visitor) => {
      const { page } = visitor;
      const faults: string[] = [];
      const look = async (name: string): Promise<void> => {
        await page.getByRole("button", { name: "Menu" }).click();
        await page.getByRole("link", { name: "Models" }).waitFor();
        await settled(page);
        faults.push(...(await faultsInBothThemes(page, name)));
        if ((await overflowPx(page)) > 0) faults.push(`${name}: wider than the window`);
      };
      await stage.signIn(visitor, guest.email);
      await look("menu-dashboard");
      await stage.signInAdmin(visitor);
      await look("menu-console");
      expect(faults).toEqual([]);
    }));
});
