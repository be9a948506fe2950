import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Kind, type Reference, refusedReference, requireTakenReferences } from "../../src/kit/index.ts";
import { step, testModel } from "../support/snapshot.ts";

const stored = (value: string): Reference => ({ at: "/a", value, kind: "stored" });

function isTaken(pattern: string, value: string, kind: Kind = "chat"): boolean {
  return refusedReference({ kind, references: [stored(value)] }, { accepts: { references: [pattern] } }) === null;
}

describe("patterns", () => {
  test.each([
    ["s3://my-bucket/*", "s3://my-bucket/a.png", true],
    ["s3://my-bucket/*", "s3://my-bucket/", true],
    ["s3://my-bucket/*", "S3://my-bucket/a", true],
    ["s3://my-bucket/*", "s3://my-bucket/a@b/c", true],
    ["s3://my-bucket/*", "s3://my-bucket", false],
    ["s3://my-bucket/*", "s3://My-bucket/a", false],
    ["s3://my-bucket/*", "s3://my-bucket-2/a", false],
    ["s3://my-bucket/*", "s3://my-bucket@other/a", false],
    ["s3://my-bucket/*", "gs://my-bucket/a", false],
    ["s3://my-bucket/*", "x-s3://my-bucket/a", false],
    ["s3://my-bucket/pub/*", "s3://my-bucket/pub/../secret", false],
    ["s3://my-bucket/pub/*", "s3://my-bucket/pub/%2e%2E/secret", false],
    ["s3://my-bucket/pub/*", "s3://my-bucket/pub/a/../b", true],
    ["s3://my-bucket/*.png", "s3://my-bucket/a/b.png", true],
    ["s3://my-bucket/*.png", "s3://my-bucket/a.pdf", false],
    ["s3://my-*", "s3://my-bucket/a", true],
    ["s3://my-*", "s3://other/my-bucket", false],
    ["s3://my-*", "s3://my-a@other/b", false],
    ["s3://*", "s3://any/thing", true],
    ["s3://*-pub/*", "s3://my-pub/a", true],
    ["s3://*-pub/*", "s3://secret/x-pub/a", false],
    ["http://*.corp/*", "http://files.corp/a", true],
    ["http://*.corp/*", "http://FILES.Corp/a", true],
    ["http://*.corp/*", "http://a@169.254.169.254/.corp/a", false],
    ["http://*.corp/*", "http://169.254.169.254/.corp/a", false],
    ["http://*.corp/*", "http://169.254.169.254?.corp/a", false],
    ["http://*.corp/*", "http://files.corp:8080/a", false],
    ["http://files.internal/*", "http://files.internal/a?b=@c", true],
    ["http://files.internal/*", "https://files.internal/a", false],
    ["file-*", "file-abc", true],
    ["file-*", "afile-abc", false],
    ["file-mine", "file-mine", true],
    ["file-mine", "file-mine2", false],
    ["file-mine", "FILE-MINE", false],
    ["files/*", "files/abc", true],
    ["a.c", "abc", false],
    ["*", "container_1", true],
    ["*", "http://10.0.0.1/", true],
    ["*", "http://a@10.0.0.1/", false],
    [
      "https://generativelanguage.googleapis.com/v1beta/files/mine-*",
      "https://generativelanguage.googleapis.com/v1beta/files/mine-1",
      true,
    ],
    [
      "https://generativelanguage.googleapis.com/v1beta/files/mine-*",
      "https://generativelanguage.googleapis.com/v1beta/files/mine-/../other",
      false,
    ],
  ])("%s, %s: %s", (pattern, value, taken) => {
    expect(isTaken(pattern, value)).toBe(taken);
  });

  test("without a * a value is itself, and nothing else", () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9_.()[\]+$^|?-]{1,20}$/);
    fc.assert(
      fc.property(word, word, (pattern, value) => {
        expect(isTaken(pattern, value)).toBe(pattern === value);
        expect(isTaken(pattern, pattern)).toBe(true);
        expect(isTaken(`${pattern}*`, pattern + value)).toBe(true);
      }),
    );
  });

  test("a long value with a hostile pattern is refused at once", () => {
    expect(isTaken("s3://b/*a*a*b", `s3://b/${"a".repeat(100_000)}`)).toBe(false);
    expect(isTaken("file-*", `file-${"a".repeat(5_000)}`)).toBe(false);
  });
});

test("no list takes what two servers read differently, and none counts in kinds that are no conversation", () => {
  const accepts = { references: ["*"] };
  const unclear: Reference = { at: "/a", value: "https:x", kind: "unclear" };
  expect(refusedReference({ kind: "chat", references: [unclear] }, { accepts })).toBe(unclear);
  for (const kind of ["embedding", "rerank", "speech", "transcription", "image"] as const) {
    expect([kind, isTaken("*", "file-a", kind)]).toEqual([kind, false]);
  }
});

test("every reference of a request must be listed", () => {
  const references = [stored("file-mine"), stored("file-other")];
  const accepts = { references: ["file-mine"] };
  expect(refusedReference({ kind: "chat", references }, { accepts })).toBe(references[1]);
  expect(refusedReference({ kind: "chat" }, {})).toBe(null);
});

test("a model is asked while one of its targets takes all", () => {
  const call = { kind: "chat", references: [stored("file-mine")] } as const;
  const model = testModel("route/a", { chain: [step("none"), step("none", "listing")] });
  const listing = { accepts: { references: ["file-mine"] } };
  expect(() => requireTakenReferences(call, model, { none: {}, listing })).not.toThrow();
  const refusal = "Invalid request: /a names something that is stored at a provider";
  expect(() => requireTakenReferences(call, model, { none: {}, listing: {} })).toThrow(refusal);
  expect(() => requireTakenReferences({ kind: "chat" }, model, { none: {}, listing: {} })).not.toThrow();
});
