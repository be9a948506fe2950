import { formatJson, formatText } from "../config/diagnostics.ts";
import { checkConfig } from "../gateway/configuration.ts";
import { configFile, EXIT } from "./options.ts";

export interface CheckOptions {
  readonly config?: string;
  readonly format: "text" | "json";
  readonly strict?: boolean;
}

/** Validates files by the code that `serve` reads them with, offline. */
export async function check(files: readonly string[], options: CheckOptions): Promise<void> {
  const { config, format, strict = false } = options;
  const paths = files.length > 0 ? files : [configFile(config)];
  const results = [];
  for (const file of paths) results.push(await checkConfig({ file, strict }));
  const diagnostics = results.flatMap((result) => result.diagnostics);
  const ok = results.every((result) => result.ok);
  process.stdout.write(format === "json" ? formatJson(ok, diagnostics) : formatText(diagnostics));
  const unread = diagnostics.some(({ rule, pointer }) => rule === "file-unreadable" && pointer === "");
  if (!ok) process.exitCode = unread ? EXIT.failed : EXIT.findings;
}
