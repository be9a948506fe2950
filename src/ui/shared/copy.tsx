import { useState } from "preact/hooks";
import { toast } from "./toast.tsx";

const SAID_MS = 2_000;

/** @param what names the copied text in the toast and for screen readers */
export function CopyButton({
  text,
  what,
  title = "Copy",
}: {
  readonly text: string;
  readonly what: string;
  readonly title?: string;
}) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setDone(true);
    setTimeout(() => setDone(false), SAID_MS);
    toast(`Copied ${what}`);
  };
  return (
    <button
      type="button"
      class="button small"
      aria-label={`${title} ${what}`}
      onClick={() => {
        copy().catch(() => toast(`Could not copy ${what}. Select the text and copy it.`, { bad: true }));
      }}
    >
      {done ? "Copied" : title}
    </button>
  );
}

/** A page that was not loaded over TLS or from this machine has no clipboard of its own. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  const parent = document.querySelector("dialog[open]") ?? document.body;
  parent.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("not copied");
}

/** Text as it is, with a button that copies it. */
export function CodeBlock({ text, title }: { readonly text: string; readonly title: string }) {
  return (
    <div class="code">
      <div class="row apart">
        <span class="small muted">{title}</span>
        <CopyButton text={text} what={title} />
      </div>
      {/* Reachable by keyboard, for it may scroll. */}
      <pre tabIndex={0} aria-label={title}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
