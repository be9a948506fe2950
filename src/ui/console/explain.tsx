import { useState } from "preact/hooks";
import type { ExplainAnswer, ExplainRequest, InferenceEndpoint } from "#schema";
import { SelectField, TextField } from "../shared/fields.tsx";
import { PageHead } from "../shared/layout.tsx";
import { Empty, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { admin, router } from "./client.ts";
import { Explanation } from "./explanation.tsx";
import { PastAnswer } from "./past-answer.tsx";
import { query } from "./filters.tsx";
import { TierField } from "./tiers.tsx";
import { useCatalogue } from "./use-catalogue.ts";

const FIELDS = [
  "model",
  "tier",
  "user",
  "endpoint",
  "stream",
  "down",
  "open",
  "prompt_tokens",
  "output_tokens",
  "request",
] as const;
type Field = (typeof FIELDS)[number];
type Draft = Readonly<Record<Field, string>>;

const ENDPOINTS = [
  "chat",
  "messages",
  "responses",
  "embeddings",
  "rerank",
  "image",
  "speech",
  "transcription",
] satisfies readonly InferenceEndpoint[];

/** What would happen to a request under the current configuration, and why. Nothing is sent. */
export function ExplainPage() {
  const asked = Object.fromEntries(FIELDS.map((name) => [name, query(name)])) as Draft;
  const question = questionOf(asked);
  const answer = useResource(question === null ? null : JSON.stringify(question), (signal) =>
    admin.send<ExplainAnswer>("POST", "/admin/explain", { body: question, signal }),
  );
  return (
    <>
      <PageHead title="Explain" />
      <Form key={JSON.stringify(asked)} asked={asked} onAskAgain={answer.reload} />
      {question === null ? (
        <Panel title="Result">
          <Empty title="No request to explain yet">
            Choose a model and a plan to see the decision of each pipeline stage and chain step, and what the request
            would cost. Nothing is sent, counted or charged.
          </Empty>
        </Panel>
      ) : (
        <Loaded resource={answer} what="Explaining">
          {(explained) =>
            "before" in explained ? <PastAnswer of={explained} /> : <Explanation title="Result" of={explained} />
          }
        </Loaded>
      )}
    </>
  );
}

/** null if the form lacks the fields that a question needs. */
function questionOf(asked: Draft): ExplainRequest | null {
  const { model, tier, user, endpoint, stream, request } = asked;
  const [down, open] = [listOf(asked.down), listOf(asked.open)];
  const common = {
    ...(tier && { tier }),
    ...(down.length > 0 && { down }),
    ...(open.length > 0 && { open }),
  };
  if (request !== "") return { request, ...common };
  if (model === "" || (tier === "" && user === "")) return null;
  return {
    model,
    ...common,
    ...(user && { user }),
    // The gateway rejects values that are not an endpoint.
    ...(endpoint && { endpoint: endpoint as InferenceEndpoint }),
    ...(stream && { stream: true }),
    ...(asked.prompt_tokens && { prompt_tokens: Number(asked.prompt_tokens) }),
    ...(asked.output_tokens && { output_tokens: Number(asked.output_tokens) }),
  };
}

function listOf(text: string): string[] {
  return text.split(",").filter(Boolean);
}

function Form({ asked, onAskAgain }: { readonly asked: Draft; readonly onAskAgain: () => void }) {
  const [draft, setDraft] = useState(asked);
  const { data: catalogue } = useCatalogue();
  const field = (name: Field) => ({
    value: draft[name],
    onValue: (value: string) => setDraft((before) => ({ ...before, [name]: value })),
  });
  const models = [...(catalogue?.models.keys() ?? [])];
  const ask = (): void => {
    const trimmed = Object.fromEntries(FIELDS.map((name) => [name, draft[name].trim()]));
    if (FIELDS.every((name) => trimmed[name] === asked[name])) onAskAgain();
    else router.setQuery(trimmed);
  };
  const canAsk = questionOf(draft) !== null;
  return (
    <Panel title="Request">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <div class="grid">
          <TextField label="Model" list="models" placeholder={models[0] ?? "route/…"} {...field("model")} />
          <datalist id="models">
            {models.map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
          <TierField label="Plan" none="the user's plan" {...field("tier")} />
          <TextField label="User" hint="Id or email. Leave empty for a user without any usage." {...field("user")} />
          <SelectField
            label="Endpoint"
            choices={[
              { value: "", title: "default for the model" },
              ...ENDPOINTS.map((value) => ({ value, title: value })),
            ]}
            {...field("endpoint")}
          />
          <SelectField
            label="Response"
            choices={[
              { value: "", title: "not streamed" },
              { value: "yes", title: "streamed" },
            ]}
            {...field("stream")}
          />
        </div>
        <details>
          <summary>More options: upstreams that are down, tokens, a past request</summary>
          <div class="stack">
            <Checks
              legend="Assume these are down"
              names={catalogue?.upstreams ?? []}
              chosen={listOf(draft.down)}
              onChosen={(names) => field("down").onValue(names.join(","))}
            />
            <Checks
              legend="Assume these breakers are open"
              names={catalogue?.upstreams ?? []}
              chosen={listOf(draft.open)}
              onChosen={(names) => field("open").onValue(names.join(","))}
            />
            <div class="grid">
              <TextField label="Input tokens" type="number" min="0" {...field("prompt_tokens")} />
              <TextField label="Output tokens" type="number" min="0" {...field("output_tokens")} />
              <TextField
                label="Past request"
                hint="Request id. It is looked up in the decision log, and replaces the fields above."
                {...field("request")}
              />
            </div>
          </div>
        </details>
        <div class="row end">
          {!canAsk && <span class="hint">Enter a model, and a plan or a user.</span>}
          <button type="submit" class="button primary" disabled={!canAsk}>
            Explain
          </button>
        </div>
      </form>
    </Panel>
  );
}

interface ChecksProps {
  readonly legend: string;
  readonly names: readonly string[];
  readonly chosen: readonly string[];
  readonly onChosen: (names: readonly string[]) => void;
}

function Checks({ legend, names, chosen, onChosen }: ChecksProps) {
  return (
    <fieldset class="checks">
      <legend class="small">{legend}</legend>
      <div class="row">
        {names.map((name) => (
          <label key={name} class="row">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={(event) =>
                onChosen(event.currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
              }
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
