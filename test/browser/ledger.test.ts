import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../e2e/support/http.ts";
import { required } from "../support/programs.ts";
import { BROWSERS } from "./support/browser.ts";
import { FAULTY_OF, fillLedger } from "./support/ledger.ts";
import { type Guest, OPERATOR_TOKEN, Stage } from "./support/stage.ts";

const MANY = 100_000;
const USERS = 10;
const PAGE_ROWS = 50;
/** To what was decided on the request of an entry. */
const LINK = "a[href*='request=']";

/** What a link or a button lets the browser save, as rows of cells; no cell here has a comma. */
async function saved(page: Page, by: Locator): Promise<readonly (readonly string[])[]> {
  const download = page.waitForEvent("download", { timeout: 60_000 });
  await by.click();
  const text = await readFile(await (await download).path(), "utf8");
  expect(text.endsWith("\r\n")).toBe(true);
  return text
    .slice(0, -2)
    .split("\r\n")
    .map((line) => line.split(","));
}

/** The cells of one column, without its title. */
function column([head = [], ...rows]: readonly (readonly string[])[], name: string): readonly string[] {
  const at = head.indexOf(name);
  expect(at).toBeGreaterThanOrEqual(0);
  return rows.map((row) => row[at] ?? "");
}

describe.skipIf(!required(...BROWSERS))(`a ledger of ${MANY} entries`, () => {
  let stage: Stage;
  let guests: readonly Guest[];
  beforeAll(async () => {
    stage = await Stage.set();
    guests = await Promise.all(Array.from({ length: USERS }, () => stage.guest()));
    await stage.stop();
    fillLedger(stage, guests, MANY);
    await stage.start();
  }, 60_000);
  afterAll(() => stage.close());

  test("pages back and forth for an operator, with the filters in the URL", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/ledger?model=route/deep");
      const rows = page.getByRole("table", { name: "Ledger" }).locator("tbody tr");
      const shown = async (): Promise<readonly string[]> => {
        await eventually(async () => (await rows.count()) === PAGE_ROWS);
        const addresses = await Promise.all((await rows.locator(LINK).all()).map((link) => link.getAttribute("href")));
        return addresses.map((address) => address?.split("request=")[1] ?? "");
      };
      const turn = async (button: string, number: number): Promise<readonly string[]> => {
        await page.getByRole("button", { name: button }).click();
        await page.getByText(`Page ${number}`, { exact: true }).waitFor();
        return shown();
      };
      // The newest first, each second round of the users.
      const expected = (number: number): readonly string[] =>
        Array.from({ length: MANY }, (_, index) => MANY - 1 - index)
          .filter((index) => Math.floor(index / USERS) % 2 === 1)
          .slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS)
          .map((index) => `request-${index}`);
      expect(await shown()).toEqual(expected(1));
      expect(await turn("Next →", 2)).toEqual(expected(2));
      expect(await turn("Next →", 3)).toEqual(expected(3));
      expect(await turn("← Previous", 2)).toEqual(expected(2));
      expect(await turn("← Previous", 1)).toEqual(expected(1));
      await page.getByLabel("User id").fill(guests[3]!.id);
      await page.getByLabel("Outcome").selectOption("client_fault");
      // What fails are rounds of the other model.
      await page.getByText("No matching entries").waitFor();
      await page.getByLabel("Model", { exact: true }).fill("");
      await eventually(async () => (await rows.count()) === PAGE_ROWS);
      const { hash } = new URL(page.url());
      expect(Object.fromEntries(new URLSearchParams(hash.split("?")[1]))).toEqual({
        user: guests[3]!.id,
        outcome: "client_fault",
      });
      await page.reload();
      const first = MANY - USERS * FAULTY_OF + 3;
      expect((await shown()).slice(0, 2)).toEqual([`request-${first}`, `request-${first - USERS * FAULTY_OF}`]);
    }));

  test("exports all entries as CSV for an operator", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signInAdmin(visitor, OPERATOR_TOKEN, "/ledger");
      const rows = await saved(page, page.getByRole("link", { name: "Export CSV" }));
      expect(rows).toHaveLength(MANY + 1);
      expect(new Set(column(rows, "id")).size).toBe(MANY);
      expect(new Set(column(rows, "user_id"))).toEqual(new Set(guests.map(({ id }) => id)));
    }));

  test("downloads the filtered requests of a user", () =>
    stage.visit({}, async (visitor) => {
      const { page } = visitor;
      await stage.signIn(visitor, guests[3]!.email, "/activity?outcome=client_fault");
      await page
        .getByRole("row", { name: /route\/swift/ })
        .first()
        .waitFor();
      const rows = await saved(page, page.getByRole("button", { name: "Download CSV" }));
      const faulty = MANY / USERS / FAULTY_OF;
      await page.getByText(`${faulty} requests downloaded`).waitFor();
      expect(column(rows, "outcome")).toEqual(Array.from({ length: faulty }, () => "client_fault"));
      const ids = Array.from({ length: faulty }, (_, index) => `request-${index * USERS * FAULTY_OF + 3}`);
      expect(column(rows, "request_id")).toEqual(ids.toReversed());
    }));
});
