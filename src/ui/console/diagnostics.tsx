import type { ConfigurationDiagnostic } from "#schema";
import { Badge } from "../shared/parts.tsx";
import { router } from "./client.ts";

interface DiagnosticsProps {
  readonly of: readonly ConfigurationDiagnostic[];
  /** The text that the findings belong to. */
  readonly text?: "rejected" | "force";
}

/** Findings with their locations. A click on a location scrolls to the line. */
export function Diagnostics({ of, text = "rejected" }: DiagnosticsProps) {
  return (
    <ul class="findings">
      {of.map((one) => (
        <li key={`${one.file}:${one.line}:${one.column}:${one.rule}`} class="stack-s">
          <span class="row">
            <Badge tone={one.severity === "error" ? "bad" : "warn"}>{one.severity}</Badge>
            <button
              type="button"
              class="button plain small"
              onClick={() => {
                router.setQuery({ text, file: one.file, line: String(one.line) });
                document.getElementById("text")?.scrollIntoView();
              }}
            >
              <code>
                {one.file}:{one.line}:{one.column}
              </code>
            </button>
            <code class="muted small">{one.rule}</code>
          </span>
          <FindingText of={one} />
        </li>
      ))}
    </ul>
  );
}

export function FindingText({ of: { message, hint } }: { readonly of: ConfigurationDiagnostic }) {
  return (
    <span>
      {message}
      {hint !== null && <span class="muted"> ({hint})</span>}
    </span>
  );
}
