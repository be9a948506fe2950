import { useState } from "preact/hooks";
import type { ApiKey, Budget, KeyChange, NewApiKey } from "./api.ts";
import { type Choice, errorOf, Form, otherProblem, SelectField, TextField } from "./fields.tsx";
import { ProblemNote } from "./parts.tsx";
import { useAction } from "./resource.ts";

/** As `expires_in` of a new key takes them. */
const KEY_EXPIRIES: readonly Choice[] = [
  { value: "", title: "Never" },
  { value: "1h", title: "In 1 hour" },
  { value: "1d", title: "In 1 day" },
  { value: "7d", title: "In 7 days" },
  { value: "30d", title: "In 30 days" },
  { value: "90d", title: "In 90 days" },
  { value: "365d", title: "In 1 year" },
];
/** As `budget.per` of a new key takes them. */
const BUDGET_PERIODS: readonly Choice[] = [
  { value: "day", title: "Per day" },
  { value: "month", title: "Per month" },
  { value: "total", title: "In total" },
];

const SCOPES: readonly Choice[] = [
  { value: "", title: "Inference and usage" },
  { value: "inference", title: "Inference only" },
  { value: "usage", title: "Usage only" },
];

/** Values of the form fields. */
export interface KeyWishes {
  readonly name: string;
  /** For a new key "" means never. For an existing key "" keeps the expiry, and `none` means never. */
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

/** Omits empty fields: without a restriction the key may do what the plan allows. */
export function keyRequest(wishes: KeyWishes): NewApiKey {
  const given = Object.entries(fieldsOf(wishes)).filter(([, value]) => value !== null);
  return Object.fromEntries([...given, ["name", wishes.name.trim()]]) as unknown as NewApiKey;
}

/** Only the changed fields, since others may have been changed elsewhere. null if nothing changed. */
export function keyChange(wishes: KeyWishes, key: ShownKey): KeyChange | null {
  const before = wishesOf(key);
  const [fields, old] = [fieldsOf(wishes), fieldsOf(before)];
  const changed = Object.entries(fields).filter(([name, value]) => {
    return JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]);
  });
  if (wishes.name.trim() !== key.name) changed.push(["name", wishes.name.trim()]);
  return changed.length === 0 ? null : (Object.fromEntries(changed) as KeyChange);
}

/** Fields as the API expects them; null removes a restriction. */
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

/** Form to create or edit a key. */
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
        hint="For example notebook, ci or shop."
        error={errorOf(problem, "/name")}
      />
      <SelectField
        label="Expires"
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
        hint="Allowed models; * matches any text. Leave empty for all models of the plan."
        error={errorOf(problem, "/models")}
      />
      <div class="pair">
        <TextField
          label="Budget in credits"
          inputMode="decimal"
          pattern="\s*[0-9]+([.][0-9]+)?\s*"
          value={wishes.amount}
          onValue={(amount) => set({ amount })}
          hint="Leave empty for no budget."
          error={errorOf(problem, "/budget")}
        />
        <SelectField
          label="Budget period"
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
        label="IP addresses"
        value={wishes.addresses}
        onValue={(addresses) => set({ addresses })}
        spellcheck={false}
        placeholder="203.0.113.7, 10.0.0.0/8"
        hint="Allowed addresses or networks. Leave empty to allow all."
        error={errorOf(problem, "/addresses")}
      />
      <TextField
        label="Tags"
        value={wishes.tags}
        onValue={(tags) => set({ tags })}
        spellcheck={false}
        placeholder="team=search env=test"
        hint="Added to each request, as name=value. Use them to filter requests."
        error={errorOf(problem, "/tags")}
      />
      {other && <ProblemNote problem={other} />}
      <div class="row end">
        <button type="button" class="button" onClick={props.onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy || wishes.name.trim() === ""}>
          {busy ? "Saving…" : props.action}
        </button>
      </div>
    </Form>
  );
}

const GRACES: readonly Choice[] = [
  { value: "0s", title: "No, revoke it now" },
  { value: "1h", title: "For 1 hour" },
  { value: "24h", title: "For 24 hours" },
  { value: "7d", title: "For 7 days" },
];

/** Asks how long the old key keeps working. */
export function RollForm(props: { readonly onSubmit: (grace: string) => Promise<void>; readonly onClose: () => void }) {
  const [grace, setGrace] = useState("24h");
  const { busy, problem, start } = useAction(() => props.onSubmit(grace));
  return (
    <Form onSubmit={start}>
      <p>
        This creates a new key with the same settings and budget. Replace the old key everywhere before it stops
        working.
      </p>
      <SelectField
        label="Keep the old key working"
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
          {busy ? "Rolling…" : "Roll key"}
        </button>
      </div>
    </Form>
  );
}

/** Restrictions of a key in words; "" without restrictions. */
export function boundsText({ scopes, addresses }: Pick<ShownKey, "scopes" | "addresses">): string {
  const scope = scopes?.length === 1 ? (SCOPES.find(({ value }) => value === scopes[0])?.title ?? "") : "";
  return [scope, addresses ? `from ${addresses.join(", ")}` : ""].filter((text) => text !== "").join(", ");
}
