import { Argument, type Command, Option } from "commander";
import type { SourceKind } from "../import/run.ts";
import type { Endpoint } from "../kit/index.ts";
import type { DiffOptions } from "./diff.ts";
import type { ExplainOptions } from "./explain.ts";
import type { ImportOptions } from "./import.ts";
import { DEFAULT_FORMAT, parseCount, parseThreshold, parseTime, type Threshold } from "./options.ts";
import type { ReplayOptions } from "./replay.ts";
import type { TestOptions } from "./test.ts";

const SIDE = "a file, a file in Git (HEAD:gateway.yaml, or :gateway.yaml if staged), or an admin address (http://…)";
const ENDPOINTS: readonly Endpoint[] = [
  "chat",
  "messages",
  "responses",
  "embeddings",
  "rerank",
  "speech",
  "transcription",
  "image",
];

/** What is asked of configurations without a gateway that serves. */
export function addOfflineCommands(program: Command): void {
  addDiffCommand(program);
  addTestCommand(program);
  addExplainCommand(program);
  addReplayCommand(program);
  addImportCommand(program);
}

function addDiffCommand(program: Command): void {
  program
    .command("diff")
    .description("show what a change of the configuration means for users")
    .argument("<old>", SIDE)
    .argument("<new>", "the same")
    .addOption(new Option("--format <format>", "output format").choices(["text", "json", "markdown"]).default("text"))
    .addOption(
      new Option("--fail-on <class>", "exit with 1 on such a change, or a worse one").choices(["breaking", "risky"]),
    )
    .option("--store", "count users and keys that each change affects, in the store of <new>")
    .option("--admin-token <token>", "admin token of a running gateway (default: $GATEWAY_ADMIN_TOKEN)")
    .action(async (old: string, now: string, options: DiffOptions) =>
      (await import("./diff.ts")).diff(old, now, options),
    );
}

const TEST_EXAMPLE = `
Example, as gateway.test.yaml:

  # yaml-language-server: $schema=./schemas/config-test.schema.json
  config: gateway.yaml
  tests:
    - name: $tier may call $model
      each: { tier: [Lite, Max], model: [route/swift-mini, route/swift] }
      expect: { status: 200 }
    - name: borealis serves when aurora is down
      given: { tier: Lite, model: route/swift, upstreams: { aurora: down } }
      expect: { status: 200, attempts: [aurora connect, borealis served] }
    - name: a hundred requests a minute
      given: { tier: Lite, model: route/swift }
      steps:
        - { times: 100, expect: { status: 200 } }
        - { expect: { status: 429, code: RATE_LIMIT_ERROR, limit: minute } }
        - { after: 61s, expect: { status: 200 } }

Exit codes: 0 all pass, 1 some fail, 2 wrong use, 3 a file could not be run.`;

function addTestCommand(program: Command): void {
  program
    .command("test")
    .description("run tests of a configuration, offline: plans, limits, failover")
    .argument("[files...]", "default: gateway.test.yaml beside the configuration, or in test/ there")
    .addOption(
      new Option("--format <format>", `output format ${DEFAULT_FORMAT}`).choices(["text", "json", "junit", "github"]),
    )
    .option("--junit <file>", "also write a JUnit report to this file")
    .option("--filter <text>", "only tests whose name contains this text")
    .addHelpText("after", TEST_EXAMPLE)
    .action(async (files: readonly string[], _options: object, command: Command) => {
      const { test } = await import("./test.ts");
      await test(files, command.optsWithGlobals<TestOptions>());
    });
}

/** Of an option that may be repeated. */
function list(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function addExplainCommand(program: Command): void {
  program
    .command("explain")
    .description("show what would happen to a request, and why, offline")
    .argument("[model]", "model id")
    .option("--request <id>", "a past request by its id or X-Request-Id, instead of a model")
    .option("--log <file>", "decision log to search (default: the configured one); repeatable", list, [])
    .option("--tier <tier>", "plan (default: the user's, or the only plan)")
    .option("--user <user>", "id or address of a user, whose counters and credits apply; needs --store")
    .option("--key <key-id>", "the user's key, by its id from `keys list`")
    .option("--store", "read the configured store, without counting or charging")
    .option("--down <upstream>", "upstream that refuses connections; repeatable", list, [])
    .option("--open <upstream>", "upstream whose breaker is open; repeatable", list, [])
    .option("--fault <upstream=script>", "fault of an upstream, as a script of `gateway sim`; repeatable", list, [])
    .addOption(new Option("--endpoint <name>", "endpoint (default: that of the model's kind)").choices(ENDPOINTS))
    .option("--stream", "ask for a stream")
    .option("--body <json>", "fields of the body, or @FILE")
    .option("--prompt-tokens <number>", "usage that the upstream reports (default: by the body's size)", parseCount)
    .option("--output-tokens <number>", "usage that the upstream reports (default: as many as are held)", parseCount)
    .addOption(new Option("--format <format>", "output format").choices(["text", "json"]).default("text"))
    .action(async (model: string | undefined, _options: object, command: Command) => {
      const { explainRequest } = await import("./explain.ts");
      await explainRequest(model, command.optsWithGlobals<ExplainOptions>());
    });
}

function thresholds(value: string, before: readonly Threshold[]): readonly Threshold[] {
  return [...before, parseThreshold(value)];
}

function addReplayCommand(program: Command): void {
  program
    .command("replay")
    .description("replay logged requests against a configuration, and show what would differ")
    .argument("[logs...]", "decision logs (default: the configured one)")
    .option(
      "--against <file>",
      "compare with a replay of this file, or of a file in Git (HEAD:gateway.yaml), instead of the log",
    )
    .option("--limits", "show what limits refuse, and how much users ask for")
    .option("--since <time>", "compare requests from this time on; earlier ones only fill the counters", parseTime)
    .option("--until <time>", "ignore requests from this time on", parseTime)
    .option("--tier <tier>", "only requests of this plan")
    .option("--model <model>", "only requests for this model")
    .option(
      "--fail-on <what>",
      "exit with 1 for any, refusals, upstreams, models (beyond :10 or :1%), or cost:5%; repeatable",
      thresholds,
      [],
    )
    .addOption(new Option("--format <format>", "output format").choices(["text", "json", "markdown"]).default("text"))
    .action(async (files: readonly string[], _options: object, command: Command) => {
      const { replayLog } = await import("./replay.ts");
      await replayLog(files, command.optsWithGlobals<ReplayOptions>());
    });
}

/** The tools that `import` reads; a test compares them with its own list. */
export const IMPORTED: readonly SourceKind[] = ["litellm", "one-api", "bifrost", "aisix"];

function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("make a gateway.yaml of another gateway's configuration, and tell what became of each field")
    .addArgument(new Argument("<kind>", "whose configuration it is").choices([...IMPORTED]))
    .argument("<file>", "the configuration, such as config.yaml")
    .option("--out <file>", "write the new configuration to a file that is not there yet (default: stdout)")
    .option("--tests <file>", "also write tests of its routing, for gateway test")
    .addOption(
      new Option("--format <format>", "how to print the findings, on stderr").choices(["text", "json"]).default("text"),
    )
    .addHelpText("after", "\nExit codes: 0 nothing is lost, 1 something is, 3 no such file, or no such configuration.")
    .action(async (kind: SourceKind, file: string, options: ImportOptions) =>
      (await import("./import.ts")).importFile(kind, file, options),
    );
}
