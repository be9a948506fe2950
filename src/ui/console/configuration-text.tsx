import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ConfigurationDiagnostic, ConfigurationSource, ConfigurationState } from "#schema";
import { SelectField } from "../shared/fields.tsx";
import { Empty, Panel } from "../shared/parts.tsx";
import { router } from "./client.ts";
import { FindingText } from "./diagnostics.tsx";
import { query } from "./filters.tsx";

interface Text {
  readonly path: string;
  readonly file: string;
  readonly text: string;
}

interface Props {
  readonly source: ConfigurationSource;
  readonly rejection: ConfigurationState["last_rejection"];
  /** Warnings of the configuration that serves. */
  readonly warnings: ConfigurationState["warnings"];
}

/** The configuration files with their findings beside the lines. Secrets appear as references or dots. */
export function ConfigurationText({ source, rejection, warnings }: Props) {
  const { files, rejected } = source;
  const showsRejected = rejected !== null && query("text") !== "force";
  const texts: readonly Text[] = showsRejected ? rejected.files : files;
  const chosen = textOf(query("file"), texts) ?? texts[0];
  const findings = showsRejected ? (rejection ?? rejected).diagnostics : warnings;
  return (
    <div id="text">
      <Panel
        flush
        title={showsRejected ? "Rejected text" : "Current text"}
        actions={
          <>
            {rejected !== null && (
              <SelectField
                label="Text"
                value={showsRejected ? "rejected" : "force"}
                choices={[
                  { value: "rejected", title: "rejected" },
                  { value: "force", title: "current" },
                ]}
                onValue={(text) => router.setQuery({ text, line: null })}
              />
            )}
            {texts.length > 1 && (
              <SelectField
                label="File"
                value={chosen?.path ?? ""}
                choices={texts.map((text) => ({
                  value: text.path,
                  title: `${text.path}${countText(findings.filter(({ file }) => textOf(file, texts) === text).length)}`,
                }))}
                onValue={(file) => router.setQuery({ file, line: null })}
              />
            )}
          </>
        }
      >
        {chosen === undefined ? (
          <Empty title="No text to show">The configuration was rejected before any file could be read.</Empty>
        ) : (
          <Lines
            text={chosen.text}
            name={chosen.path}
            findings={findings.filter(({ file }) => textOf(file, texts) === chosen)}
            marked={Number(query("line"))}
          />
        )}
      </Panel>
    </div>
  );
}

function countText(findings: number): string {
  return findings === 0 ? "" : ` (${findings})`;
}

/** Findings name a file from the working directory or by its whole path, texts from the folder of the main file. */
function textOf(named: string, texts: readonly Text[]): Text | undefined {
  if (named === "") return undefined;
  return (
    texts.find(({ path, file }) => named === path || named === file) ??
    texts.find(({ file }) => file.endsWith(`/${named}`))
  );
}

interface LinesProps {
  readonly text: string;
  readonly name: string;
  readonly findings: readonly ConfigurationDiagnostic[];
  /** The line that the URL names. */
  readonly marked: number;
}

function Lines({ text, name, findings, marked }: LinesProps) {
  const frame = useRef<HTMLOListElement>(null);
  const first = findings[0]?.line ?? 0;
  const shown = marked > 0 ? marked : first;
  useEffect(() => {
    const list = frame.current;
    const line = list?.children[shown - 1];
    if (list && line instanceof HTMLElement) list.scrollTop = line.offsetTop - list.clientHeight / 3;
  }, [shown, text]);
  // The state of the configuration is read again and again: thousands of lines are made when they are others.
  const found = JSON.stringify(findings);
  const lines = useMemo(() => linesOf(text, findings, shown), [text, found, shown]);
  return (
    <ol class="lines" ref={frame} tabIndex={0} aria-label={`Text of ${name}`}>
      {lines}
    </ol>
  );
}

function linesOf(text: string, findings: readonly ConfigurationDiagnostic[], shown: number) {
  const byLine = Map.groupBy(findings, ({ line }) => line);
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line, index) => {
    const number = index + 1;
    const own = byLine.get(number) ?? [];
    return (
      <li
        key={number}
        class={lineClass(own, number === shown)}
        {...(number === shown ? { "aria-current": "true" } : null)}
      >
        <span class="number" aria-hidden="true">
          {number}
        </span>
        <code>{marksOf(line, own)}</code>
        {own.map((one) => (
          <span key={`${one.rule} ${one.column}`} class="finding">
            <strong>{one.severity}</strong> <code>{one.rule}</code> <FindingText of={one} />
          </span>
        ))}
      </li>
    );
  });
}

function lineClass(findings: readonly ConfigurationDiagnostic[], isShown: boolean): string {
  const worst = findings.some(({ severity }) => severity === "error") ? "bad" : findings.length > 0 ? "warn" : "";
  return `${worst} ${isShown ? "shown" : ""}`.trim();
}

/** Underlines the part of the line that the first finding is about. */
function marksOf(line: string, [first]: readonly ConfigurationDiagnostic[]) {
  const end = first?.endColumn;
  if (first === undefined || end === undefined || end === null || end <= first.column) return line || " ";
  return (
    <>
      {line.slice(0, first.column - 1)}
      <mark>{line.slice(first.column - 1, end - 1)}</mark>
      {line.slice(end - 1)}
    </>
  );
}
