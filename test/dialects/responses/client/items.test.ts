import { expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { casesOf } from "../../cases.ts";
import { messagesOf } from "./support.ts";

type Case = readonly [input: readonly Json[], messages: readonly Json[]];

test.each(casesOf<Case>(new URL("requests/items.yaml", import.meta.url)))("items: %s", (_, [input, messages]) => {
  expect(messagesOf({ input })).toEqual(messages);
});
