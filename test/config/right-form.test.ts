import { describe, expect, test } from "vitest";
import { rightForm } from "../../src/config/right-form.ts";

const PRICE = { type: "number", minimum: 0, maximum: 1_000_000_000 };
const COUNT = { type: "integer", minimum: 0, maximum: 1_000_000_000 };
const RATIO = { type: "number", exclusiveMinimum: 0, maximum: 1 };
const TIME = { type: "string", pattern: "^[0-9]{1,9}(ms|s|m|h|d)$" };
const SIZE = { type: "string", pattern: "^0*[1-9][0-9]{0,8}(B|KiB|MiB|GiB)$" };
const SHARE = { type: "string", pattern: String.raw`^(?!0+(\.0+)?%$)[0-9]{1,2}(\.[0-9]{1,3})?%$` };

describe("a hint never says another value than the one that is written", () => {
  test.each([
    ["1,5", PRICE, "write 1.5"],
    ["0,075", PRICE, "write 0.075"],
    ["15,00", PRICE, "write 15.00"],
    ["1.000,5", PRICE, "write 1000.5"],
    ["1 000,5", PRICE, "write 1000.5"],
    ["1,000.5", PRICE, "write 1000.5"],
    ["1,234,567", PRICE, "write 1234567"],
    ["1.234.567", PRICE, "write 1234567"],
    ["1,500", PRICE, "write 1500, or 1.500 if the comma is a decimal point"],
    ["1,500", COUNT, "write 1500"],
    ["1_000", COUNT, "write 1000"],
    ["1 000", COUNT, "write 1000"],
    ["1'000", COUNT, "write 1000"],
    ["1_000.25", PRICE, "write 1000.25"],
    ["1.5", PRICE, "write 1.5, without quotes"],
    [".5", PRICE, "write 0.5"],
    ["$1.50", PRICE, "write 1.50"],
    ["1,50 €", PRICE, "write 1.50"],
    ["USD 2.5", PRICE, "write 2.5"],
    ["2e-6", PRICE, "write 2e-6, without quotes"],
    ["128k", COUNT, "write 128000"],
    ["1.5M", COUNT, "write 1500000"],
    ["10%", RATIO, "write 0.1"],
    ["2,5%", RATIO, "write 0.025"],
    ["10%", PRICE, null],
    ["1,5", COUNT, null],
    ["150%", RATIO, null],
    ["-5", COUNT, null],
    ["1,2,3", PRICE, null],
    ["five", COUNT, null],
    ["5 s", TIME, "write 5s"],
    ["90 sec", TIME, "write 90s"],
    ["1.5s", TIME, "write 1500ms"],
    ["0,5 h", TIME, "write 30m"],
    ["1h30m", TIME, "write 90m"],
    ["1m 30s", TIME, "write 90s"],
    ["0.1ms", TIME, null],
    ["5 s later", TIME, null],
    ["10mb", SIZE, "write 10MiB"],
    ["1.5 GB", SIZE, "write 1536MiB"],
    ["0.5 KiB", SIZE, "write 512B"],
    [30, TIME, "write 30s"],
    [30_000, TIME, "write 30000ms"],
    [0.5, TIME, "write 500ms"],
    [0.1, SHARE, "write 10%"],
    [5, SHARE, "write 5%"],
    [64, SIZE, "write 64MiB"],
  ] as const)("%j", (data, schema, hint) => {
    expect(rightForm(data, schema)).toBe(hint);
  });
});
