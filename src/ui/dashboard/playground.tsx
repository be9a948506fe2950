import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type LedgerEntry, OUTCOMES } from "../shared/api.ts";
import { SelectField, TextArea, TextField } from "../shared/fields.tsx";
import { formatCount, formatDuration } from "../shared/formats.ts";
import { Problem } from "../shared/http.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel, ProblemNote } from "../shared/parts.tsx";
import { useAction, useResource } from "../shared/resource.ts";
import { Credits } from "../shared/time.tsx";
import { outcomeTone } from "./activity.tsx";
import { type Ending, ledgerEntryOf, type Message, PlaygroundKey, type Progress, streamChat } from "./chat.ts";
import { allowedModels } from "./connect.tsx";
import { filter, router } from "./place.ts";
import { api, planOf } from "./session.ts";

interface Turn {
  readonly id: number;
  readonly prompt: string;
  readonly model: string;
  readonly answer: Progress;
  readonly ending: Ending | null;
  /** `wanted` while it is not in the ledger yet; null if it never appeared. */
  readonly entry: LedgerEntry | "wanted" | null;
}

export function Playground() {
  const plan = planOf();
  const models = useResource("models", (signal) => api.models(signal));
  return (
    <>
      <PageHead title="Playground" />
      <Loaded resource={models} what="Loading models">
        {(data) => {
          const chat = allowedModels(data, plan).filter(({ kind }) => kind === undefined || kind === "chat");
          return chat.length === 0 ? (
            <Empty title="Your plan has no chat models">
              <span>Ask the operator of this gateway to change your plan.</span>
            </Empty>
          ) : (
            <Conversation models={chat.map(({ id }) => id)} />
          );
        }}
      </Loaded>
    </>
  );
}

/** The number in a field; undefined if it is empty or not a number. */
function numberIn(text: string): number | undefined {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? undefined : value;
}

function Conversation({ models }: { readonly models: readonly string[] }) {
  const wanted = filter("model");
  const model = models.includes(wanted) ? wanted : models[0]!;
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [system, setSystem] = useState("");
  const [prompt, setPrompt] = useState("");
  const [temperature, setTemperature] = useState("");
  const [maxTokens, setMaxTokens] = useState("");
  const abort = useRef<AbortController | null>(null);
  const key = useMemo(() => new PlaygroundKey(), []);

  useEffect(() => {
    const leave = (): void => {
      abort.current?.abort();
      key.revoke().catch(reportError);
    };
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [key]);

  const change = (id: number, changes: Partial<Turn>): void =>
    setTurns((all) => all.map((turn) => (turn.id === id ? { ...turn, ...changes } : turn)));

  const send = useAction(async (text: string) => {
    const secret = await key.secret();
    const aborting = new AbortController();
    abort.current = aborting;
    const id = turns.length;
    const messages: Message[] = [
      ...(system.trim() === "" ? [] : [{ role: "system", content: system } as const]),
      ...turns.flatMap(({ prompt, answer }): Message[] =>
        answer.text === ""
          ? []
          : [
              { role: "user", content: prompt },
              { role: "assistant", content: answer.text },
            ],
      ),
      { role: "user", content: text },
    ];
    const nothing = { text: "", reasoning: "", firstMs: null };
    setPrompt("");
    setTurns([...turns, { id, prompt: text, model, answer: nothing, ending: null, entry: "wanted" }]);
    try {
      const request = {
        model,
        messages,
        ...(numberIn(temperature) !== undefined && { temperature: numberIn(temperature)! }),
        ...(numberIn(maxTokens) !== undefined && { max_tokens: numberIn(maxTokens)! }),
      };
      const ending = await streamChat(request, secret, aborting.signal, (answer) => change(id, { answer }));
      change(id, { answer: ending, ending });
      lookUp(id, ending).catch(() => change(id, { entry: null }));
    } catch (error) {
      // It never began: the prompt goes back into its field.
      setPrompt(text);
      setTurns((all) => all.filter((turn) => turn.id !== id));
      if (error instanceof Problem && error.status === 401) key.forget();
      throw error;
    }
  });
  const lookUp = async (id: number, { requestId }: Ending): Promise<void> =>
    change(id, { entry: requestId === null ? null : await ledgerEntryOf(requestId) });

  const submit = (): void => {
    if (prompt.trim() !== "") send.start(prompt);
  };
  return (
    <div class="play">
      <div class="stack">
        {turns.length === 0 && (
          <Empty title="Send a message to start">
            <span>The answer streams in here. Requests are charged as usual.</span>
          </Empty>
        )}
        {turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} />
        ))}
        {send.problem && <ProblemNote problem={send.problem} />}
        <form
          class="stack-s"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <TextArea
            label="Message"
            rows={4}
            value={prompt}
            onValue={setPrompt}
            hint="Press Ctrl+Enter to send."
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                submit();
              }
            }}
          />
          <div class="row">
            <button type="submit" class="button primary" disabled={send.busy || prompt.trim() === ""}>
              Send
            </button>
            <button type="button" class="button danger" disabled={!send.busy} onClick={() => abort.current?.abort()}>
              Stop
            </button>
            <button
              type="button"
              class="button"
              disabled={send.busy || turns.length === 0}
              onClick={() => setTurns([])}
            >
              Start over
            </button>
          </div>
        </form>
      </div>
      <Panel title="Parameters">
        <SelectField
          label="Model"
          value={model}
          choices={models.map((id) => ({ value: id, title: id }))}
          onValue={(model) => router.setQuery({ model })}
        />
        <TextArea label="System message" rows={3} value={system} onValue={setSystem} />
        <TextField
          label="Temperature"
          type="number"
          min="0"
          max="2"
          step="0.1"
          value={temperature}
          onValue={setTemperature}
          hint="Leave empty for the model's default."
        />
        <TextField label="Max tokens" type="number" min="1" step="1" value={maxTokens} onValue={setMaxTokens} />
        <p class="small muted">
          The playground creates an API key that is valid for one hour, and revokes it when you leave this page.
        </p>
      </Panel>
    </div>
  );
}

function TurnView({ turn }: { readonly turn: Turn }) {
  const { answer, ending } = turn;
  return (
    <article class="panel" aria-label={`Exchange ${turn.id + 1}`}>
      <div class="panel-body">
        <div class="stack-s">
          <strong class="small muted">You</strong>
          <p class="said">{turn.prompt}</p>
        </div>
        <div class="stack-s" aria-live="polite" aria-busy={ending === null}>
          <strong class="small muted">{turn.model}</strong>
          {answer.reasoning !== "" && (
            <details>
              <summary class="small muted">Reasoning</summary>
              <p class="said muted">{answer.reasoning}</p>
            </details>
          )}
          {answer.text === "" && ending === null ? (
            <p class="muted">
              <span class="loading">Waiting for the first token…</span>
            </p>
          ) : (
            <p class="said">{answer.text}</p>
          )}
          {ending?.error && <p class="note bad">{ending.error}</p>}
          {ending?.stopped && <p class="note warn">Stopped. You are charged for what was generated.</p>}
          {ending !== null && ending.text === "" && ending.error === null && !ending.stopped && (
            <p class="note warn">The answer is empty. The model may have used all its tokens for reasoning.</p>
          )}
        </div>
        {ending && <Cost turn={turn} ending={ending} />}
      </div>
    </article>
  );
}

function Cost({ turn, ending }: { readonly turn: Turn; readonly ending: Ending }) {
  const { entry } = turn;
  const times = [
    ending.firstMs === null ? "" : `first token after ${formatDuration(ending.firstMs)}`,
    `done after ${formatDuration(ending.durationMs)}`,
  ].filter((part) => part !== "");
  return (
    <div class="row small muted" role="status">
      {entry === "wanted" && <span class="loading">Loading cost…</span>}
      {entry === null && <span>The cost is not known yet. See Activity later.</span>}
      {entry !== null && entry !== "wanted" && (
        <>
          <Badge tone={outcomeTone(entry.outcome)}>
            {ending.stopped ? OUTCOMES.killed : (OUTCOMES[entry.outcome] ?? entry.outcome)}
          </Badge>
          {entry.upstream !== null && <span>by {entry.upstream}</span>}
          <span>
            {formatCount(entry.usage.prompt_tokens ?? 0)} tokens in, {formatCount(entry.usage.completion_tokens ?? 0)}{" "}
            out
          </span>
          <Credits amount={entry.cost} />
        </>
      )}
      <span>{times.join(", ")}</span>
      {ending.requestId !== null && <a href={`#/activity?request_id=${ending.requestId}`}>View in Activity</a>}
    </div>
  );
}
