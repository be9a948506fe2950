import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { ProblemNote } from "./parts.tsx";
import { useAction } from "./resource.ts";

/** Modal: the browser keeps the focus inside, closes it on Escape, and gives the focus back. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      class="dialog"
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <header>
        <h2 id={id}>{props.title}</h2>
      </header>
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}

interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  /** Label of the button: a verb. */
  readonly action: string;
  readonly danger?: boolean;
  /** The dialog stays, and shows what went wrong, when it fails. */
  readonly run: () => Promise<void>;
}

const question = signal<Question | null>(null);

/** Asks for confirmation before an action. `Confirmations` shows the dialog. */
export function confirm(asked: Question): void {
  question.value = asked;
}

/** Belongs once into a page. */
export function Confirmations() {
  const asked = question.value;
  return asked && <Confirmation key={asked.title} asked={asked} />;
}

function close(): void {
  question.value = null;
}

function Confirmation({ asked }: { readonly asked: Question }) {
  const { busy, problem, start } = useAction(async () => {
    await asked.run();
    close();
  });
  return (
    <Dialog title={asked.title} onClose={close}>
      <div>{asked.text}</div>
      {problem && <ProblemNote problem={problem} />}
      <div class="row end">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class={`button ${asked.danger ? "danger" : "primary"}`}
          disabled={busy}
          onClick={() => start()}
        >
          {busy ? "Please wait…" : asked.action}
        </button>
      </div>
    </Dialog>
  );
}
