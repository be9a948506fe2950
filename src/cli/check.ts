import { type Command, Option } from "commander";
import { checkConfig } from "../loading.ts";
import { formatJson, formatText } from "../config/diagnostics.ts";
import { configFile, EXIT } from "./options.ts";

interface CheckFlags {
  readonly config?: string;
  readonly format: "text" | "json";
  readonly strict?: boolean;
}

/** `gateway check [FILE…]`: the very path that `serve` takes, offline. */
export function addCheckCommand(program: Command): void {
  program
    .command("check")
    .description("validate configuration files offline")
    .argument("[files...]", "default: the configuration file")
    .addOption(new Option("--format <format>", "how to print").choices(["text", "json"]).default("text"))
    .option("--strict", "fail on warnings, unset references and empty keys, as a production start would")
    .action(async (files: readonly string[], _flags: object, command: Command) => {
      const { config, format, strict = false } = command.optsWithGlobals<CheckFlags>();
      const paths = files.length > 0 ? files : [configFile(config, process.env)];
      const results = [];
      for (const file of paths) results.push(await checkConfig({ file, strict, env: process.env }));
      const diagnostics = results.flatMap((result) => result.diagnostics);
      const ok = results.every((result) => result.ok);
      process.stdout.write(format === "json" ? formatJson(ok, diagnostics) : formatText(diagnostics));
      const unread = diagnostics.some(({ rule, pointer }) => rule === "file-unreadable" && pointer === "");
      if (!ok) process.exitCode = unread ? EXIT.failed : EXIT.findings;
    });
}
