import { expect, test } from "vitest";
import { readMessages } from "../../../src/dialects/clients/messages.ts";
import { clientPointer } from "../../../src/dialects/pointers.ts";

const call = readMessages({
  model: "route/a",
  max_tokens: 5,
  system: [
    { type: "text", text: "be kind" },
    { type: "text", text: "and short" },
  ],
  messages: [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a" }] },
        { type: "text", text: "and?" },
      ],
    },
  ],
});

test.each([
  ["/messages/0/content/1", "/system/1"],
  ["/messages/0", "/system"],
  ["/messages/1/content", "/messages/0/content"],
  ["/messages/2/tool_calls/0/extra", "/messages/1/tool_calls/0/extra"],
  ["/messages/3/content/0", "/messages/2/content/0/content/0"],
  ["/messages/4/content/0", "/messages/2/content/0"],
  ["/messages/9/content", "/messages/9/content"],
  ["/messages", "/messages"],
  ["/stop", "/stop_sequences"],
])("%s of the canonical body is %s of the client's", (canonical, place) => {
  expect(clientPointer(call, canonical)).toBe(place);
});
