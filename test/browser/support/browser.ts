import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page, type Request, type Response } from "playwright-core";
import { expectAdminConforming, expectConforming } from "../../e2e/support/conforming.ts";
import { programOf } from "../../support/programs.ts";

/** Debian's name first; any browser of the family will do. */
export const BROWSERS = ["chromium", "chromium-browser", "google-chrome"] as const;

/** Wide enough for both columns of a page, and a phone. */
export const WIDTHS_PX = { desktop: 1280, phone: 390 } as const;
export const HEIGHTS_PX = { desktop: 900, phone: 844 } as const;

/** What pages ask in the background. */
export const API = /^\/(?:v1|auth|admin)\//;

/** For the bodies of answers that are still coming when a visitor leaves. */
const CHECKS_MS = 2_000;

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
  readonly #checks: Promise<void>[] = [];

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
    page.on("response", (response) => {
      this.#checks.push(this.#checkAnswer(response));
    });
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
    await Promise.race([Promise.all(this.#checks), sleep(CHECKS_MS)]);
    await this.context.close();
    const faults = this.#faults.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
    assert.deepEqual(faults, []);
  }

  /** What pages are answered is as the documents of both listeners say. */
  async #checkAnswer(response: Response): Promise<void> {
    const { pathname } = new URL(response.url());
    const headers = response.headers();
    if (!API.test(pathname) || headers["content-type"]?.startsWith("text/event-stream")) return;
    // Of a page that was left there is none any more.
    const bytes = await response.body().catch(() => null);
    if (bytes === null) return;
    const answer = { status: response.status(), headers, text: bytes.toString(), bytes };
    const check = pathname.startsWith("/admin/") ? expectAdminConforming : expectConforming;
    try {
      check(response.request().method(), pathname, answer);
    } catch (error) {
      this.#faults.push(`not as the document says: ${String(error)}`);
    }
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
