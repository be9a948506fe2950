import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page, type Request } from "playwright-core";
import { programOf } from "../../support/programs.ts";

/** Debian's name first; any browser of the family will do. */
export const BROWSERS = ["chromium", "chromium-browser", "google-chrome"] as const;

/** Wide enough for both columns of a page, and a phone. */
export const WIDTHS_PX = { desktop: 1280, phone: 390 } as const;
export const HEIGHTS_PX = { desktop: 900, phone: 844 } as const;

/** What pages ask in the background. */
export const API = /^\/(?:v1|auth|admin)\//;

export type Device = keyof typeof WIDTHS_PX;
export type Theme = "light" | "dark";

export interface Looks {
  readonly device?: Device;
  readonly theme?: Theme;
}

export function launch(): Promise<Browser> {
  const executablePath = programOf(...BROWSERS);
  if (executablePath === null) throw new Error("no chromium is here; npm run setup installs it");
  // What a page needs without a screen or a network; the rest is the browser as users have it.
  const args = ["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"];
  return chromium.launch({ executablePath, args });
}

/** A visitor of its own: no cookies, no storage. What its pages do wrong fails the test that it is closed in. */
export class Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #faults: string[] = [];
  readonly #expected: RegExp[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    page.on("console", (message) => {
      if (message.type() !== "error" && message.type() !== "warning") return;
      const { url } = message.location();
      // The browser's own note of an answer that is no success: what the page makes of it is what tests look at.
      if (message.text().startsWith("Failed to load resource") && API.test(new URL(url).pathname)) return;
      this.#faults.push(`${message.type()} on the console: ${message.text()} (${url})`);
    });
    page.on("pageerror", (error) => this.#faults.push(`thrown in the page: ${error.stack ?? error.message}`));
    page.on("request", (request) => this.#checkOrigin(request));
  }

  static async enter(browser: Browser, { device = "desktop", theme = "light" }: Looks = {}): Promise<Visitor> {
    const context = await browser.newContext({
      viewport: { width: WIDTHS_PX[device], height: HEIGHTS_PX[device] },
      // Whose scroll bars lie over the page.
      isMobile: device === "phone",
      colorScheme: theme,
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "UTC",
      permissions: ["clipboard-read", "clipboard-write"],
      acceptDownloads: true,
    });
    context.setDefaultTimeout(15_000);
    return new Visitor(context, await context.newPage());
  }

  /** What the test is about is no fault of the page. */
  expectFault(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** @throws AssertionError for what the page did wrong. */
  async leave(): Promise<void> {
    await this.context.close();
    const faults = this.#faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(faults, []);
  }

  /** Nothing may come from elsewhere: not even what a policy would have refused. */
  #checkOrigin(request: Request): void {
    const url = new URL(request.url());
    if (["blob:", "data:"].includes(url.protocol) || url.hostname === "127.0.0.1") return;
    this.#faults.push(`asked elsewhere: ${request.url()}`);
  }
}

/**
 * What the rules of accessibility find on the page as it is now, as lines that say where.
 * @param rules the only ones that are looked at; left out: all.
 */
export async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Not as a script of the page, which its policy would refuse.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${options})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = "" }) => `${id} (${help}) at ${target.join(" ")}: ${failureSummary}`),
  );
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
  }[];
}

/** Pixels that the page is wider than its window: who reads it on a phone would scroll sideways. */
export function overflowPx(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** A picture in the folder that `SCREENSHOTS` names; without it none is made. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined || folder === "") return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
