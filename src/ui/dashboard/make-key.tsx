import { useState } from "preact/hooks";
import type { Budget, CreatedApiKey, NewApiKey } from "../shared/api.ts";
import { Dialog } from "../shared/dialog.tsx";
import { errorOf, Form, otherProblem, SelectField, TextField } from "../shared/fields.tsx";
import { BUDGET_PERIODS, KEY_EXPIRIES } from "../shared/key-choices.ts";
import { ProblemNote } from "../shared/parts.tsx";
import { useAction } from "../shared/resource.ts";
import { api } from "./session.ts";

interface Wishes {
  readonly name: string;
  readonly expiresIn: string;
  readonly models: string;
  readonly amount: string;
  readonly per: Budget["per"];
  readonly tags: string;
}

const NO_WISHES: Wishes = { name: "", expiresIn: "", models: "", amount: "", per: "month", tags: "" };

/** What is left empty is left out: a key without it may do what its plan allows. */
export function keyRequest({ name, expiresIn, models, amount, per, tags }: Wishes): NewApiKey {
  const globs = words(models);
  const pairs = words(tags).map((pair) => {
    const mark = pair.indexOf("=");
    return mark < 0 ? ([pair, "yes"] as const) : ([pair.slice(0, mark), pair.slice(mark + 1)] as const);
  });
  return {
    name: name.trim(),
    ...(expiresIn !== "" && { expires_in: expiresIn }),
    ...(globs.length > 0 && { models: globs }),
    ...(amount.trim() !== "" && { budget: { amount: amount.trim(), per } }),
    ...(pairs.length > 0 && { tags: Object.fromEntries(pairs) }),
  };
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

export function MakeKey(props: { readonly onClose: () => void; readonly onMade: (key: CreatedApiKey) => void }) {
  const [wishes, setWishes] = useState(NO_WISHES);
  const { busy, problem, start } = useAction(async () => {
    props.onMade(await api.createKey(keyRequest(wishes)));
  });
  const set = (changes: Partial<Wishes>): void => setWishes({ ...wishes, ...changes });
  const other = otherProblem(problem, ["/name", "/expires_in", "/models", "/budget", "/tags"]);
  return (
    <Dialog title="Make a key" onClose={props.onClose}>
      <Form onSubmit={start}>
        <TextField
          label="Name"
          required
          autofocus
          maxLength={100}
          value={wishes.name}
          onValue={(name) => set({ name })}
          hint="Where it is used, such as: notebook, ci, shop"
          error={errorOf(problem, "/name")}
        />
        <SelectField
          label="Ends"
          value={wishes.expiresIn}
          choices={KEY_EXPIRIES}
          onValue={(expiresIn) => set({ expiresIn })}
          error={errorOf(problem, "/expires_in")}
        />
        <TextField
          label="Models"
          value={wishes.models}
          onValue={(models) => set({ models })}
          spellcheck={false}
          placeholder="route/*-mini, route/swift"
          hint="The only ones it may call; * stands for any text. Empty: all of your plan."
          error={errorOf(problem, "/models")}
        />
        <div class="pair">
          <TextField
            label="Budget in credits"
            inputMode="decimal"
            pattern="\s*[0-9]+([.][0-9]+)?\s*"
            value={wishes.amount}
            onValue={(amount) => set({ amount })}
            hint="Empty: none of its own."
            error={errorOf(problem, "/budget")}
          />
          <SelectField
            label="Per"
            value={wishes.per}
            choices={BUDGET_PERIODS}
            onValue={(per) => set({ per: per as Budget["per"] })}
          />
        </div>
        <TextField
          label="Tags"
          value={wishes.tags}
          onValue={(tags) => set({ tags })}
          spellcheck={false}
          placeholder="team=search env=test"
          hint="Marks of its requests, to find them by: name=value."
          error={errorOf(problem, "/tags")}
        />
        {other && <ProblemNote problem={other} />}
        <div class="row end">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy}>
            {busy ? "Making…" : "Make key"}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
