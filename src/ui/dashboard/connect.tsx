import { useState } from "preact/hooks";
import type { Model } from "../shared/api.ts";
import { CodeBlock } from "../shared/copy.tsx";
import { SelectField } from "../shared/fields.tsx";
import { Tabs } from "../shared/parts.tsx";
import { KEY_PLACEHOLDER, snippets } from "./snippets.ts";

/** Setup snippets for clients, including the key while it is known. */
export function Connect(props: { readonly secret: string | null; readonly models: readonly Model[] }) {
  const chat = props.models.filter(({ kind }) => kind === undefined || kind === "chat");
  const [client, setClient] = useState("curl");
  const [chosen, setChosen] = useState("");
  const model = chosen || chat[0]?.id || "route/MODEL";
  const all = snippets({ origin: window.location.origin, key: props.secret ?? KEY_PLACEHOLDER, model });
  const shown = all.find(({ id }) => id === client) ?? all[0]!;
  return (
    <div class="stack">
      {chat.length > 0 && (
        <SelectField
          label="Model"
          value={model}
          choices={chat.map(({ id }) => ({ value: id, title: id }))}
          onValue={setChosen}
        />
      )}
      <Tabs label="Client" tabs={all} selected={shown.id} onSelect={setClient}>
        <CodeBlock text={shown.text} title={shown.title} />
      </Tabs>
      {props.secret === null && (
        <p class="small muted">
          Replace <code>{KEY_PLACEHOLDER}</code> with your key. Keys are shown only once, when you create them.
        </p>
      )}
    </div>
  );
}

/** The models that a plan may call; all of them where the gateway does not say. */
export function allowedModels(models: readonly Model[], plan: string): readonly Model[] {
  return models.filter(({ plans }) => plans === undefined || plans.includes(plan));
}
