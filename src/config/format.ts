import type { Diagnostic, Severity } from "./diagnostics.ts";

/** One line a finding, `file:line:column: severity rule message (hint)`, and a last line that counts. */
export function formatText(diagnostics: readonly Diagnostic[]): string {
  const lines = diagnostics.map(({ file, line, column, severity, rule, message, hint }) => {
    const text = `${file}:${line}:${column}: ${severity} ${rule} ${message}${hint === null ? "" : ` (${hint})`}`;
    // A file name may hold a line break: one finding stays one line.
    return text.replaceAll(/[\r\n]+/g, " ");
  });
  lines.push(`${count(diagnostics, "error")}, ${count(diagnostics, "warning")}`);
  return `${lines.join("\n")}\n`;
}

/** `{ok, diagnostics:[{file,line,column,pointer,rule,severity,message,hint}]}`. */
export function formatJson(ok: boolean, diagnostics: readonly Diagnostic[]): string {
  const rows = diagnostics.map(({ file, line, column, pointer, rule, severity, message, hint }) => ({
    file,
    line,
    column,
    pointer,
    rule,
    severity,
    message,
    hint,
  }));
  return `${JSON.stringify({ ok, diagnostics: rows }, null, 2)}\n`;
}

function count(diagnostics: readonly Diagnostic[], severity: Severity): string {
  const found = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return `${found} ${severity}${found === 1 ? "" : "s"}`;
}
