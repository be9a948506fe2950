import { useState } from "preact/hooks";
import type { ApiKey, Budget, KeyChange, NewApiKey } from "./api.ts";
import { type Choice, errorOf, Form, otherProblem, SelectField, TextField } from "./fields.tsx";
import { ProblemNote } from "./parts.tsx";
import { useAction } from "./resource.ts";

/** As `expires_in` of a new key takes them. */
const KEY_EXPIRIES: readonly Choice[] = [
  { value: "", title: "Never" },
  { value: "1h", title: "In an hour" },
  { value: "1d", title: "In a day" },
  { value: "7d", title: "In 7 days" },
  { value: "30d", title: "In 30 days" },
  { value: "90d", title: "In 90 days" },
  { value: "365d", title: "In a year" },
];
/** As `budget.per` of a new key takes them. */
const BUDGET_PERIODS: readonly Choice[] = [
  { value: "day", title: "a day" },
  { value: "month", title: "a month" },
  { value: "total", title: "in total" },
];

const SCOPES: readonly Choice[] = [
  { value: "", title: "Inference and usage" },
  { value: "inference", title: "Inference only" },
  { value: "usage", title: "Reading usage only" },
];

/** What the fields of a form hold. */
export interface KeyWishes {
  readonly name: string;
  /** In a form that makes a key "" is never; in one that changes a key it is as before, and `none` is never. */
  readonly expiresIn: string;
  readonly models: string;
  readonly amount: string;
  readonly per: Budget["per"];
  readonly tags: string;
  readonly scope: string;
  readonly addresses: string;
}

export const NO_WISHES: KeyWishes = {
  name: "",
  expiresIn: "",
  models: "",
  amount: "",
  per: "month",
  tags: "",
  scope: "",
  addresses: "",
};

/** The part of a key that the form shows; the keys of the admin API have it, too. */
export type ShownKey = Pick<ApiKey, "name" | "expires_at" | "models" | "budget" | "tags" | "scopes" | "addresses">;

export function wishesOf({ name, models, budget, tags, scopes, addresses }: ShownKey): KeyWishes {
  return {
    name,
    expiresIn: "",
    models: models?.join(", ") ?? "",
    amount: budget?.amount ?? "",
    per: budget?.per ?? "month",
    tags: Object.entries(tags)
      .map(([tag, value]) => `${tag}=${value}`)
      .join(" "),
    scope: scopes?.length === 1 ? scopes[0]! : "",
    addresses: addresses?.join(", ") ?? "",
  };
}

/** What is left empty is left out: a key without it may do what its plan allows. */
export function keyRequest(wishes: KeyWishes): NewApiKey {
  const given = Object.entries(fieldsOf(wishes)).filter(([, value]) => value !== null);
  return Object.fromEntries([...given, ["name", wishes.name.trim()]]) as unknown as NewApiKey;
}

/** Only what is different: another field may have been changed elsewhere meanwhile. null for nothing. */
export function keyChange(wishes: KeyWishes, key: ShownKey): KeyChange | null {
  const before = wishesOf(key);
  const [fields, old] = [fieldsOf(wishes), fieldsOf(before)];
  const changed = Object.entries(fields).filter(([name, value]) => {
    return JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]);
  });
  if (wishes.name.trim() !== key.name) changed.push(["name", wishes.name.trim()]);
  return changed.length === 0 ? null : (Object.fromEntries(changed) as KeyChange);
}

/** As the API takes them; null takes a limit away. */
function fieldsOf({ expiresIn, models, amount, per, tags, scope, addresses }: KeyWishes) {
  const pairs = words(tags).map((pair) => {
    const mark = pair.indexOf("=");
    return mark < 0 ? ([pair, "yes"] as const) : ([pair.slice(0, mark), pair.slice(mark + 1)] as const);
  });
  return {
    expires_in: expiresIn === "none" || expiresIn === "" ? null : expiresIn,
    ...(expiresIn === "none" && { expires_at: null }),
    models: orNull(words(models)),
    budget: amount.trim() === "" ? null : { amount: amount.trim(), per },
    tags: pairs.length > 0 ? Object.fromEntries(pairs) : null,
    scopes: scope === "" ? null : [scope],
    addresses: orNull(words(addresses)),
  };
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

function orNull(list: readonly string[]): readonly string[] | null {
  return list.length > 0 ? list : null;
}

const FIELDS = ["/name", "/expires_in", "/models", "/budget", "/tags", "/scopes", "/addresses"];

/** Makes a key, or changes one. */
export function KeyForm(props: {
  readonly start: KeyWishes;
  /** The first choice of the expiry, with the value "". */
  readonly unset: string;
  readonly isNew: boolean;
  readonly action: string;
  readonly onSubmit: (wishes: KeyWishes) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [wishes, setWishes] = useState(props.start);
  const { busy, problem, start } = useAction(() => props.onSubmit(wishes));
  const set = (changes: Partial<KeyWishes>): void => setWishes({ ...wishes, ...changes });
  const [, ...times] = KEY_EXPIRIES;
  const never = props.isNew ? [] : [{ value: "none", title: "Never" }];
  const other = otherProblem(problem, FIELDS);
  return (
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
        choices={[{ value: "", title: props.unset }, ...never, ...times]}
        onValue={(expiresIn) => set({ expiresIn })}
        error={errorOf(problem, "/expires_in")}
      />
      <TextField
        label="Models"
        value={wishes.models}
        onValue={(models) => set({ models })}
        spellcheck={false}
        placeholder="route/*-mini, route/swift"
        hint="The only ones it may call; * matches any text. Empty: all of the plan."
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
      <SelectField
        label="Scope"
        value={wishes.scope}
        choices={SCOPES}
        onValue={(scope) => set({ scope })}
        error={errorOf(problem, "/scopes")}
      />
      <TextField
        label="Addresses"
        value={wishes.addresses}
        onValue={(addresses) => set({ addresses })}
        spellcheck={false}
        placeholder="203.0.113.7, 10.0.0.0/8"
        hint="The only addresses or networks it works from. Empty: everywhere."
        error={errorOf(problem, "/addresses")}
      />
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
        <button type="submit" class="button primary" disabled={busy || wishes.name.trim() === ""}>
          {busy ? "Working…" : props.action}
        </button>
      </div>
    </Form>
  );
}

const GRACES: readonly Choice[] = [
  { value: "0s", title: "Not at all: it stops now" },
  { value: "1h", title: "For an hour" },
  { value: "24h", title: "For 24 hours" },
  { value: "7d", title: "For 7 days" },
];

/** Asks for how long the old key still works. */
export function RollForm(props: { readonly onSubmit: (grace: string) => Promise<void>; readonly onClose: () => void }) {
  const [grace, setGrace] = useState("24h");
  const { busy, problem, start } = useAction(() => props.onSubmit(grace));
  return (
    <Form onSubmit={start}>
      <p>
        You get a new key with the same settings and the same budget. Replace the old key wherever it is used, before it
        stops working.
      </p>
      <SelectField
        label="The old key still works"
        value={grace}
        choices={GRACES}
        onValue={setGrace}
        error={errorOf(problem, "/grace")}
      />
      {otherProblem(problem, ["/grace"]) && <ProblemNote problem={problem!} />}
      <div class="row end">
        <button type="button" class="button" onClick={props.onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy}>
          {busy ? "Working…" : "Roll key"}
        </button>
      </div>
    </Form>
  );
}

/** What a key may be used for and from where, in words; "" without bounds. */
export function boundsText({ scopes, addresses }: Pick<ShownKey, "scopes" | "addresses">): string {
  const scope = scopes?.length === 1 ? (SCOPES.find(({ value }) => value === scopes[0])?.title ?? "") : "";
  return [scope, addresses ? `from ${addresses.join(", ")}` : ""].filter((text) => text !== "").join(", ");
}
