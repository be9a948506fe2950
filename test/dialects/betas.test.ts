import { describe, expect, test } from "vitest";
import { FORM_BETAS } from "../../src/dialects/canonical/betas.ts";
import type { Call, ClientDialect, Json } from "../../src/kit/index.ts";
import { READERS, sentOn, type SentRequest, type Way, WAYS } from "./billed.ts";

/* Of Anthropic's betas those alone are sent that change form and not rate; any other by `accepts.fields`. */

const FORM = "context-management-2025-06-27";
/** Billed apart or at another rate, and one that nobody knows yet. */
const PAID = [
  "context-1m-2025-08-07",
  "fast-mode-2026-02-01",
  "server-side-fallback-2026-07-01",
  "fallback-credit-2026-07-01",
  "user-profiles-billing-2026-10-01",
  "advisor-tool-2026-03-01",
  "skills-2025-10-02",
  "code-execution-2025-08-25",
  "new-thing-2027-01-01",
];
const ASKED = [...PAID, FORM];
const told = (names: readonly string[]): readonly string[] => names.map((name) => `anthropic-beta:${name}`);

const SAID: Readonly<Record<ClientDialect, Json>> = {
  chat: { model: "route/a", messages: [{ role: "user", content: "hi" }] },
  messages: { model: "route/a", max_tokens: 100, messages: [{ role: "user", content: "hi" }] },
  responses: { model: "route/a", input: "hi" },
};

/** Each place where a client may name betas. */
const PLACES: readonly (readonly [string, ClientDialect, (names: readonly string[]) => Call])[] = [
  [
    "the header of a Messages client",
    "messages",
    (names) => READERS.messages(SAID.messages, { "anthropic-beta": names.join(", ") }),
  ],
  ...(["chat", "messages", "responses"] as const).flatMap((client) =>
    ["anthropic_beta", "betas"].flatMap((field) => [
      [
        `${field} of a ${client} body`,
        client,
        (names: readonly string[]) => READERS[client]({ ...SAID[client], [field]: names }),
      ] as const,
      [
        `${field} of a ${client} body, as one text`,
        client,
        (names: readonly string[]) => READERS[client]({ ...SAID[client], [field]: names.join(",") }),
      ] as const,
    ]),
  ),
];

/** The betas of a request, wherever it has them. */
function betasOf({ headers, body }: SentRequest): readonly string[] {
  const more = body["additionalModelRequestFields"] as Json | undefined;
  const fields = [headers["anthropic-beta"], body["anthropic_beta"], body["betas"], more?.["anthropic_beta"]];
  return fields.flatMap((value) => (typeof value === "string" ? value.split(",") : ((value ?? []) as string[])));
}

/** Whether the upstream is sent betas of form. */
function takesForm({ dialect, location }: Way, client: ClientDialect, name: string): boolean {
  if (dialect === "anthropic") return true;
  const isOpen = !["openai", "mistral", "groq", "fireworks", "cerebras", "nvidia"].includes(location.vendor ?? "");
  const travels = client === "chat" && location.api !== "responses" && location.accepts?.unknownFields !== false;
  return dialect === "openai" && isOpen && travels && !name.includes("header");
}

describe.each(PLACES)("%s", (name, client, read) => {
  test.each(WAYS)("to $name", (way) => {
    const request = sentOn(way, read(ASKED));
    const sent = takesForm(way, client, name) ? [FORM] : [];
    expect(betasOf(request)).toEqual(sent);
    expect(request.dropped.toSorted()).toEqual(told(ASKED.filter((beta) => !sent.includes(beta))).toSorted());
    for (const beta of PAID) expect(request.text).not.toContain(beta);
  });
});

function ask(names: readonly string[]): Call {
  return READERS.messages(SAID.messages, { "anthropic-beta": names.join(",") });
}

describe("accepts.fields", () => {
  const claude = WAYS.filter(({ dialect, name }) => dialect === "anthropic" || name === "bedrock");
  test.each(claude)("lets a beta through by its name: $name", (way) => {
    for (const prefix of ["", "anthropic-beta:"]) {
      const request = sentOn(way, ask(PAID), [`${prefix}new-thing-2027-01-01`]);
      expect(betasOf(request)).toEqual(["new-thing-2027-01-01"]);
      expect(request.dropped).toEqual(told(PAID.slice(0, -1)));
    }
  });

  test.each([
    ["speed", "fast-mode-2026-02-01"],
    ["fallbacks", "server-side-fallback-2026-07-01"],
    ["fallback_credit_token", "fallback-credit-2026-07-01"],
    ["billing_policy", "user-profiles-billing-2026-10-01"],
    ["advisor_20260301", "advisor-tool-2026-03-01"],
    ["container", "skills-2025-10-02"],
    ["code_execution", "code-execution-2025-08-25"],
  ])("lets through the beta of what it names: %s", (field, beta) => {
    for (const way of claude) expect(betasOf(sentOn(way, ask(PAID), [field]))).toEqual([beta]);
  });

  test.each(["gemini", "cohere", "openai", "Nova on bedrock"])("does not invent betas at %s", (name) => {
    const way = WAYS.find((one) => one.name === name)!;
    const request = sentOn(way, ask(["new-thing-2027-01-01"]), ["new-thing-2027-01-01"]);
    expect([betasOf(request), request.dropped]).toEqual([[], told(["new-thing-2027-01-01"])]);
  });
});

/*
 * What agents send by themselves, without an option that costs more: Claude Code 2.1 at an address of one's own, an older
 * one, agents that do as it does, and what it sends for a title (test/sweep/bodies/messages).
 */
test.each([
  "claude-code-20250219,interleaved-thinking-2025-05-14,redact-thinking-2026-02-12,thinking-token-count-2026-05-13," +
    "context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24",
  "claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14,extended-cache-ttl-2025-04-11," +
    "redact-thinking-2026-02-12,context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24",
  "claude-code-20250219,structured-outputs-2025-12-15,advanced-tool-use-2025-11-20",
])("Anthropic gets what an agent sends by default: %s", (header) => {
  const request = sentOn(WAYS[0]!, READERS.messages(SAID.messages, { "anthropic-beta": header }));
  expect([request.headers["anthropic-beta"], request.dropped]).toEqual([header, []]);
});

test("a beta is in the table under a name with its date", () => {
  for (const name of FORM_BETAS) expect(name).toMatch(/^[a-z0-9-]+-20\d{2}-?\d{2}-?\d{2}$/);
});

test.each(["betas", "anthropic_beta"])("%s that names nothing stays behind, too", (field) => {
  for (const way of WAYS) {
    const request = sentOn(way, READERS.messages({ ...SAID.messages, [field]: { x: 1 } }));
    expect([request.text.includes(field), request.dropped]).toEqual([false, [`/${field}`]]);
  }
});

describe("with a beta that is not sent there stays behind what it allows", () => {
  const body = {
    ...SAID.messages,
    diagnostics: { previous_message_id: "msg_1" },
    compaction: { type: "summarize" },
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    user_profile_id: "u",
    output_config: { task_budget: { type: "tokens", total: 9 } },
  };

  test("at Anthropic itself", () => {
    const header =
      "compact-2027-01-01,user-profiles-2026-09-04,context-management-2025-06-27,cache-diagnosis-2026-04-07";
    const request = sentOn(WAYS[0]!, READERS.messages(body, { "anthropic-beta": header }));
    expect(request.headers["anthropic-beta"]).toBe("context-management-2025-06-27,cache-diagnosis-2026-04-07");
    expect(request.body).toMatchObject({
      diagnostics: body.diagnostics,
      context_management: body.context_management,
      output_config: body.output_config,
    });
    expect(request.dropped).toEqual([
      ...told(["compact-2027-01-01", "user-profiles-2026-09-04"]),
      "/compaction",
      "/user_profile_id",
    ]);
    for (const field of ["compaction", "user_profile_id"]) expect(request.body).not.toHaveProperty(field);
  });
});
