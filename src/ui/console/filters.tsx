import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Choice, SelectField, TextField } from "../shared/fields.tsx";
import { router } from "./client.ts";

/** Typing is waited for: each change of the filter asks the gateway. */
const TYPING_MS = 400;

/** A parameter of the URL; empty when it is not there. */
export function query(name: string): string {
  return router.route.value.query.get(name) ?? "";
}

/** Several parameters of the URL. The client omits empty ones from its call. */
export function queries<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  return Object.fromEntries(names.map((name) => [name, query(name)])) as Record<Name, string>;
}

interface FilterProps {
  /** Name of the parameter in the URL. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
}

/** A field whose value is in the URL: what is shown can be sent to somebody as a link. */
export function TextFilter({ name, label, hint, placeholder }: FilterProps & { readonly placeholder?: string }) {
  const inUrl = query(name);
  const [typed, setTyped] = useState(inUrl);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setTyped(inUrl), [inUrl]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <TextField
      label={label}
      hint={hint}
      type="search"
      {...(placeholder ? { placeholder } : null)}
      value={typed}
      onValue={(value) => {
        setTyped(value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => router.setQuery({ [name]: value.trim() }), TYPING_MS);
      }}
    />
  );
}

export function SelectFilter({
  name,
  label,
  hint,
  choices,
}: FilterProps & {
  readonly choices: readonly Choice[];
}) {
  const value = query(name);
  // A link may name what is not offered: it holds all the same, and is seen.
  const all = choices.some((choice) => choice.value === value) ? choices : [...choices, { value, title: value }];
  return (
    <SelectField
      label={label}
      hint={hint}
      value={value}
      choices={all}
      onValue={(chosen) => router.setQuery({ [name]: chosen })}
    />
  );
}

/** A moment in the reader's own time; in the URL it is ISO 8601. */
export function TimeFilter({ name, label }: FilterProps) {
  const inUrl = query(name);
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={localText(inUrl)}
      onValue={(value) => {
        const at = Date.parse(value);
        router.setQuery({ [name]: Number.isNaN(at) ? "" : new Date(at).toISOString() });
      }}
    />
  );
}

const MINUTE_MS = 60_000;

function localText(iso: string): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return "";
  return new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** Filters that are needed less often; open when one of them is in the URL. */
export function MoreFilters({
  names,
  children,
}: {
  readonly names: readonly string[];
  readonly children: ComponentChildren;
}) {
  return (
    <details class="more-filters" open={names.some((name) => query(name) !== "")}>
      <summary class="small">More filters</summary>
      <div class="filters">{children}</div>
    </details>
  );
}

export function ClearFilters({ names }: { readonly names: readonly string[] }) {
  if (names.every((name) => query(name) === "")) return null;
  return (
    <button
      type="button"
      class="button"
      onClick={() => router.setQuery(Object.fromEntries(names.map((name) => [name, null])))}
    >
      Clear filters
    </button>
  );
}
