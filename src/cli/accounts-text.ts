/** Text that cannot move the cursor, colour the terminal or forge a line. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\uFFFD");
}

/** Columns as wide as their widest cell, two blanks apart. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [head, ...rows].map(line).join("\n");
}
