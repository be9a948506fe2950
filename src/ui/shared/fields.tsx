import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Problem } from "./http.ts";

/** A form that the page sends itself: the browser would leave the page. */
export function Form({ onSubmit, children }: { readonly onSubmit: () => void; readonly children: ComponentChildren }) {
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
}

interface InputProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "email" | "password" | "number" | "search" | "date" | "datetime-local";
  readonly name?: string;
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly inputMode?: "decimal" | "numeric" | "email";
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly autofocus?: boolean;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly min?: string;
  readonly max?: string;
  readonly step?: string;
  /** The id of a `<datalist>`. */
  readonly list?: string;
  readonly spellcheck?: boolean;
}

/** What is wrong stands beneath the field, and is read out with it. */
export function TextField({ label, hint, error, value, onValue, autofocus = false, ...input }: InputProps) {
  const id = useId();
  const element = useRef<HTMLInputElement>(null);
  // Without dialogs the attribute has an effect once per document: the second form of a page would get no focus.
  useEffect(() => {
    if (autofocus) element.current?.focus();
  }, []);
  // The attributes depend on the type of the input; which one it is, only the caller knows.
  const attributes = { ...input, autofocus, ...described(id, hint, error) } as JSX.IntrinsicElements["input"];
  return (
    <Frame id={id} {...{ label, hint, error }}>
      <input
        {...attributes}
        ref={element}
        class="input"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Frame>
  );
}

interface AreaProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly rows?: number;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly placeholder?: string;
  readonly spellcheck?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

export function TextArea({ label, hint, error, value, onValue, ...area }: AreaProps) {
  const id = useId();
  return (
    <Frame id={id} {...{ label, hint, error }}>
      <textarea
        {...area}
        {...described(id, hint, error)}
        class="input"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Frame>
  );
}

export interface Choice {
  readonly value: string;
  readonly title: string;
}

export function SelectField(
  props: FieldProps & {
    readonly value: string;
    readonly choices: readonly Choice[];
    readonly onValue: (value: string) => void;
    readonly disabled?: boolean;
  },
) {
  const id = useId();
  const { label, hint, error } = props;
  return (
    <Frame id={id} {...{ label, hint, error }}>
      <select
        {...described(id, hint, error)}
        class="input"
        value={props.value}
        disabled={props.disabled ?? false}
        onChange={(event) => props.onValue(event.currentTarget.value)}
      >
        {props.choices.map(({ value, title }) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </Frame>
  );
}

function Frame(props: FieldProps & { readonly id: string; readonly children: ComponentChildren }) {
  const { id, label, hint, error } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {props.children}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}

function described(id: string, hint: ComponentChildren, error: string | null | undefined) {
  const by = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].join(" ").trim();
  return { id, "aria-invalid": Boolean(error), ...(by === "" ? null : { "aria-describedby": by }) };
}

/** What a refused call says of one field, as `/name`; null when it is about another. */
export function errorOf(problem: Problem | null, pointer: string): string | null {
  const field = problem?.field;
  return field && (field.pointer === pointer || field.pointer.startsWith(`${pointer}/`)) ? field.message : null;
}

/** A problem that belongs to none of the fields that are shown. */
export function otherProblem(problem: Problem | null, pointers: readonly string[]): Problem | null {
  return pointers.some((pointer) => errorOf(problem, pointer) !== null) ? null : problem;
}
