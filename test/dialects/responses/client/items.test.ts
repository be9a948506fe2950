import { expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { type Cases, casesOf } from "../../cases.ts";
import { messagesOf } from "./support.ts";

type Case = readonly [input: readonly Json[], messages: readonly Json[]];

test.each(casesOf(new URL("requests/items.yaml", import.meta.url)) as Cases<Case>)(
  "items: %s",
  (_, [input, messages]) => {
    expect(messagesOf({ input })).toEqual(messages);
  },
);
