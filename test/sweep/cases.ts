import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { isJson, type Json } from "../../src/kit/index.ts";
import { sign } from "../../src/simulator/answer.ts";
import { FORMAT_NAMES, type FormatName } from "../e2e/support/formats.ts";

/** A request that is legal in its client's format. The file's name is the case's; the folder is the format. */
export interface SweepCase {
  readonly format: FormatName;
  readonly name: string;
  /** What is unusual about it. */
  readonly about: string;
  /** Headers that the client sends with it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Without a model. */
  readonly body: Json;
}

const FOLDER = new URL("bodies/", import.meta.url);

/** Files by their mark in a text, base64: a case would be unreadable with them. Each is whole and as small as may be. */
const MEDIA: Readonly<Record<string, string>> = {
  $png: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  $gif: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  $pdf: Buffer.from(
    "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj " +
      "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
  ).toString("base64"),
  $wav: Buffer.concat([
    Buffer.from("RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0", "latin1"),
    Buffer.from([0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0]),
    Buffer.from("data\x08\0\0\0\0\0\0\0\0\0\0\0", "latin1"),
  ]).toString("base64"),
};

/**
 * A value of a case as the client sends it. Marks stand for what is long: `$png`, `$gif`, `$pdf`, `$wav` in a text; `{"$times":
 * 140, "of": item}` in a list, with `{n}` in the item's texts; `{"$text": "word ", "times": 200}` for a text; `{"$signed":
 * "claude", "for": "thought"}` for what a provider signed or sealed, for it refuses what others made.
 */
function expand(value: unknown, n: number | null = null): unknown {
  if (typeof value === "string") return expandText(value, n);
  if (Array.isArray(value)) return value.flatMap((item: unknown) => expandItem(item, n));
  if (!isJson(value)) return value;
  const { $text: text, $signed: provider } = value;
  if (typeof text === "string") return text.repeat(Number(value["times"]));
  if (typeof provider === "string") return sign(provider, "sweep", String(value["for"]));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [expandText(name, n), expand(inner, n)]));
}

function expandText(text: string, n: number | null): string {
  const media = text.replaceAll(/\$(?:png|gif|pdf|wav)\b/g, (mark) => MEDIA[mark]!);
  return n === null ? media : media.replaceAll("{n}", String(n));
}

function expandItem(item: unknown, n: number | null): readonly unknown[] {
  if (!isJson(item) || item["$times"] === undefined) return [expand(item, n)];
  return Array.from({ length: Number(item["$times"]) }, (_, index) => expand(item["of"], index));
}

function readCase(format: FormatName, file: string): SweepCase {
  const read = JSON.parse(readFileSync(new URL(`${format}/${file}`, FOLDER), "utf8")) as {
    readonly about: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: Json;
  };
  const { about, headers = {}, body } = read;
  return { format, name: basename(file, ".json"), about, headers, body: expand(body) as Json };
}

/** Every case of a format. */
export function casesOf(format: FormatName): readonly SweepCase[] {
  return readdirSync(new URL(`${format}/`, FOLDER))
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => readCase(format, file));
}

export const ALL_CASES: readonly SweepCase[] = FORMAT_NAMES.flatMap(casesOf);
