import { expect, test } from "vitest";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import { CHAT, chat, target } from "./support.ts";

const headers = (key: string): readonly unknown[] => {
  const sent = [chat.request(CHAT, target("m"), key), anthropic.probe(key)].map((request) => request.headers);
  return sent.map(({ "x-api-key": own, authorization, "anthropic-version": version }) => ({
    own,
    authorization,
    version,
  }));
};
const both = (sent: object): readonly unknown[] => [sent, sent].map((each) => ({ ...each, version: "2023-06-01" }));
const said = (body: unknown): string => anthropic.errorMessage(new TextEncoder().encode(JSON.stringify(body)));

test("calls and probes carry the key as the API takes it", () => {
  expect(headers("sk-ant-api03-x")).toEqual(both({ own: "sk-ant-api03-x", authorization: undefined }));
  expect(headers("sk-ant-oat01-x")).toEqual(both({ own: undefined, authorization: "Bearer sk-ant-oat01-x" }));
  expect(headers("")).toEqual(both({ own: undefined, authorization: undefined }));
});

test("paths carry their version", () => {
  expect(chat.request(CHAT, target("m"), "k")).toMatchObject({ method: "POST", path: "/v1/messages" });
  expect(anthropic.probe("k")).toMatchObject({ method: "GET", path: "/v1/models", body: null });
});

test("an error body is told in the provider's own words, without secrets", () => {
  expect(said({ type: "error", error: { type: "invalid_request_error", message: "max_tokens: Field required" } })).toBe(
    "max_tokens: Field required",
  );
  expect(said({ type: "error", error: { message: "bad key sk-ant-api03-abcdef" } })).toBe("bad key [redacted]");
  expect(said({ type: "error" })).toBe("");
});
