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

/** What would become of a request, and why: asked of the configuration in force, without anything being sent. */
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
        <Panel title="Answer">
          <Empty title="Nothing is asked yet">
            Choose a model and a plan: you are shown each stage of the pipeline and each step of the chain with its
            verdict, and what the request would cost. Nothing is sent, counted or charged.
          </Empty>
        </Panel>
      ) : (
        <Loaded resource={answer} what="Asking">
          {(explained) =>
            "before" in explained ? <PastAnswer of={explained} /> : <Explanation title="Answer" of={explained} />
          }
        </Loaded>
      )}
    </>
  );
}

/** null: what is needed for a question is not there. */
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
    // Whatever the address says: what is no endpoint is refused by the gateway.
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
    <Panel title="A request">
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
          <TierField label="Plan" none="the user's" {...field("tier")} />
          <TextField label="User" hint="Id or address; empty: somebody who has used nothing." {...field("user")} />
          <SelectField
            label="Endpoint"
            choices={[
              { value: "", title: "of the model's kind" },
              ...ENDPOINTS.map((value) => ({ value, title: value })),
            ]}
            {...field("endpoint")}
          />
          <SelectField
            label="Answer"
            choices={[
              { value: "", title: "whole" },
              { value: "yes", title: "streamed" },
            ]}
            {...field("stream")}
          />
        </div>
        <details>
          <summary>More: upstreams that are down, tokens, a past request</summary>
          <div class="stack">
            <Checks
              legend="As if these were down"
              names={catalogue?.upstreams ?? []}
              chosen={listOf(draft.down)}
              onChosen={(names) => field("down").onValue(names.join(","))}
            />
            <Checks
              legend="As if the breakers of these were open"
              names={catalogue?.upstreams ?? []}
              chosen={listOf(draft.open)}
              onChosen={(names) => field("open").onValue(names.join(","))}
            />
            <div class="grid">
              <TextField label="Tokens of the prompt" type="number" min="0" {...field("prompt_tokens")} />
              <TextField label="Tokens of the answer" type="number" min="0" {...field("output_tokens")} />
              <TextField
                label="A past request instead"
                hint="Its id: it is looked for in the decision log."
                {...field("request")}
              />
            </div>
          </div>
        </details>
        <div class="row end">
          {!canAsk && <span class="hint">Name a model, and a plan or a user.</span>}
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
