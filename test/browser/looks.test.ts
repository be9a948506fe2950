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
import { type Guest, Stage } from "./support/stage.ts";

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

/** Everything that is wrong with a page as one sees it, in both themes and at both widths. */
async function faultsOf(page: Page, name: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    // Colours change with the next frame.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const rules = theme === "light" ? undefined : ["color-contrast"];
    for (const fault of await accessibilityFaults(page, rules)) faults.push(`${name}, ${theme}: ${fault}`);
    for (const device of ["desktop", "phone"] as const) {
      await page.setViewportSize({ width: WIDTHS_PX[device], height: HEIGHTS_PX[device] });
      const overflow = await overflowPx(page);
      if (overflow > 0) faults.push(`${name}, ${device}: ${overflow} px wider than the window`);
      await screenshot(page, `${name}-${device}-${theme}`);
    }
    await page.setViewportSize({ width: WIDTHS_PX.desktop, height: HEIGHTS_PX.desktop });
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
});
