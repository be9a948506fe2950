import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { referencesIn } from "../../../src/dialects/references/find.ts";
import type { Json } from "../../../src/kit/index.ts";
import { ADDRESS_FIELDS, ID_FIELDS, NOT_PUBLIC, ORDINARY, PUBLIC } from "./cases.ts";

const FORMATS = ["chat", "messages", "responses"] as const;
const image = (url: string): Json => ({ type: "image_url", image_url: { url } });
const found = (body: Json) => referencesIn(body).map(({ at, value }) => [at, value]);

describe.each(FORMATS)("%s", (format) => {
  test("each field, alone in a body", () => {
    for (const { at, body } of ADDRESS_FIELDS[format]) {
      for (const value of NOT_PUBLIC) expect([value, found(body(value))]).toEqual([value, [[at, value]]]);
      for (const value of PUBLIC) expect([at, value, found(body(value))]).toEqual([at, value, []]);
    }
    for (const { at, body } of ID_FIELDS[format]) {
      expect(referencesIn(body("file-1"))).toMatchObject([{ at, kind: "stored" }]);
    }
  });

  test("ordinary text", () => {
    for (const body of ORDINARY[format]) expect(found(body)).toEqual([]);
  });
});

test("an address is found at any depth below fields that nobody knows, and told in the order of the body", () => {
  const name = fc.stringMatching(/^x_[a-z]{1,6}$/);
  const leaf = fc.constantFrom<unknown>("plain", "https://media.example/a", 1, true, null);
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("tree"), { maxLength: 3 }), fc.dictionary(name, tie("tree"))),
  }));
  fc.assert(
    fc.property(tree, tree, fc.array(name, { maxLength: 6 }), fc.constantFrom(...NOT_PUBLIC), (a, b, path, value) => {
      const planted = path.reduceRight<unknown>((inner, step) => ({ before: a, [step]: inner, behind: b }), value);
      const at = ["x_top", ...path].map((step) => `/${step}`).join("");
      expect(found({ a, x_top: planted, b })).toEqual([[at, value]]);
      // A second one comes second.
      expect(found({ x_top: planted, z: [value] })).toEqual([
        [at, value],
        ["/z/0", value],
      ]);
    }),
  );
});

test("names of ids are known however they are written, and others that only end alike are not", () => {
  for (const name of [
    "file_id",
    "fileId",
    "file-id",
    "fileIDs",
    "fileid",
    "FILE_ID",
    "file_ids[]",
    "input_file_id",
    "vectorStoreIds",
    "cachedContent",
  ]) {
    expect([name, found({ a: { [name]: "abc" } })]).toEqual([name, [[`/a/${name}`, "abc"]]]);
  }
  for (const name of [
    "profile_id",
    "user_id",
    "tool_call_id",
    "session_id",
    "id",
    "file_name",
    "containers",
    "video_idle",
  ]) {
    expect([name, found({ a: { [name]: "abc" } })]).toEqual([name, []]);
  }
});

const skills = (type: string): Json => ({ container: { skills: [{ type, skill_id: "pptx", version: "latest" }] } });

test("an id may be a number", () => {
  expect(found({ a: { file_id: 7, file_ids: [8, "9"], size: 5 } })).toEqual([
    ["/a/file_id", "7"],
    ["/a/file_ids/0", "8"],
    ["/a/file_ids/1", "9"],
  ]);
});

test("what is around a field hides nothing in it", () => {
  const file = { type: "input_image", file_id: "file-1" };
  for (const type of ["tool_use", "computer_call", "text", "search_result", "anthropic", "function"]) {
    const content = [{ type: "x", action: file, operation: file, data: "s3://b", source: file, input: [file] }];
    expect(found({ type, media_type: "text/plain", name: "a", input: [{ role: "user", content }] })).toHaveLength(5);
    expect(found({ type, action: file, operation: file, data: "s3://b", input: file, parameters: file })).toHaveLength(
      5,
    );
  }
});

// Written with the name itself, which in a literal is no field.
test("a field named __proto__ is one", () => {
  expect(found(JSON.parse('{"a":{"__proto__":{"url":"s3://b"}}}') as Json)).toEqual([["/a/__proto__/url", "s3://b"]]);
});

test("skills that Anthropic offers to everybody are nobody's", () => {
  expect(found(skills("anthropic"))).toEqual([]);
  expect(found(skills("custom"))).toEqual([["/container/skills/0/skill_id", "pptx"]]);
});

test("what parsers skip in front of an address, or within its scheme, hides nothing", () => {
  for (const value of [
    "\u0000http://10.0.0.1/",
    "\n\t http://10.0.0.1/",
    "ht\ntp://10.0.0.1/",
    "http:\t//10.0.0.1/",
    "http:10.0.0.1",
    "\\\\10.0.0.1\\a",
  ]) {
    expect([value, found({ x: value, image: value })]).toEqual([
      value,
      [
        ["/x", value],
        ["/image", value],
      ],
    ]);
  }
});

/** How many references a message with an image at this address has. */
const count = (url: string) => found({ messages: [{ role: "user", content: [image(url)] }] }).length;

test("base64 alone is content, and what may be a path or a name is not", () => {
  const base64 = "JVBERi0x".repeat(10);
  for (const url of [base64, `${base64}AA==`, `/9j/${base64}`]) expect([url, count(url)]).toEqual([url, 0]);
  for (const url of [
    "JVBERi0=",
    `${base64}A`,
    `/${base64}AAA`,
    `files/${base64}AA`,
    `${base64}====`,
    `${base64}-AAA`,
  ]) {
    expect([url, count(url)]).toEqual([url, 1]);
  }
});

test("long texts are looked at by their beginning", () => {
  const asked: string[] = [];
  const read = (text: string): string => {
    asked.push(text);
    return text === "long text 0" ? "data:image/png;base64,AAAA" : text === "long text 1" ? "s3://bucket/a" : text;
  };
  const body = {
    messages: [
      { role: "user", content: [{ type: "text", text: "long text 2" }, image("long text 0"), image("long text 1")] },
    ],
  };
  expect(referencesIn(body, read)).toEqual([
    { at: "/messages/0/content/2/image_url/url", value: "s3://bucket/a", kind: "scheme" },
  ]);
  expect(asked).toEqual(["long text 2", "long text 0", "long text 1"]);
});
