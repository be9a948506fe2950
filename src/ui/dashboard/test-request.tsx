import { useState } from "preact/hooks";
import type { Model } from "../shared/api.ts";
import { client } from "./session.ts";
import { formatDuration } from "../shared/formats.ts";
import { ProblemNote } from "../shared/parts.tsx";
import { useAction } from "../shared/resource.ts";

interface Answer {
  readonly text: string;
  readonly provider: string | null;
  readonly durationMs: number;
}

/** Sends one short chat with the new key. */
export function TestRequest(props: { readonly secret: string | null; readonly models: readonly Model[] }) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const model = props.models.find(({ kind }) => kind === undefined || kind === "chat")?.id ?? null;
  const { busy, problem, start } = useAction(async (key: string, model: string) => {
    const startedAt = performance.now();
    const response = await client.open("POST", "/v1/chat/completions", {
      headers: { authorization: `Bearer ${key}` },
      body: { model, messages: [{ role: "user", content: "Say hello in one short sentence." }], max_tokens: 64 },
    });
    const body = (await response.json()) as {
      readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
      readonly provider?: string;
    };
    setAnswer({
      text: body.choices?.[0]?.message?.content ?? "",
      provider: body.provider ?? null,
      durationMs: performance.now() - startedAt,
    });
  });
  const { secret } = props;
  return (
    <div class="stack-s">
      <span>
        <button
          type="button"
          class="button"
          disabled={busy || secret === null || model === null}
          onClick={() => {
            if (secret !== null && model !== null) start(secret, model);
          }}
        >
          {busy ? "Sending…" : "Send test request"}
        </button>
      </span>
      {secret === null ? (
        <span class="hint">Create a key first.</span>
      ) : (
        model !== null && (
          <span class="hint">
            Uses the model <code>{model}</code>.
          </span>
        )
      )}
      <div role="status" class="stack-s">
        {answer !== null && problem === null && (
          <p class="note good">
            “{answer.text}” · {model}
            {answer.provider !== null && ` by ${answer.provider}`} in {formatDuration(answer.durationMs)}
          </p>
        )}
      </div>
      {problem && <ProblemNote problem={problem} />}
    </div>
  );
}
