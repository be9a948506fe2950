import { type Command, Option } from "commander";
import type { Endpoint } from "../kit/index.ts";
import type { DiffOptions } from "./diff.ts";
import type { ExplainOptions } from "./explain.ts";
import { DEFAULT_FORMAT, parseCount, parseThreshold, parseTime, type Threshold } from "./options.ts";
import type { ReplayOptions } from "./replay.ts";
import type { TestOptions } from "./test.ts";

const SIDE =
  "a file, a file in git (HEAD:gateway.yaml, :gateway.yaml for what is staged), or an admin address (http://…)";
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
}

function addDiffCommand(program: Command): void {
  program
    .command("diff")
    .description("what a change of the configuration means to those who use the gateway")
    .argument("<old>", SIDE)
    .argument("<new>", "the same")
    .addOption(new Option("--format <format>", "how to print").choices(["text", "json", "markdown"]).default("text"))
    .addOption(
      new Option("--fail-on <class>", "end with 1 when there is such a change, or a worse one").choices([
        "breaking",
        "risky",
      ]),
    )
    .option("--store", "count the users and keys that each change touches, in the store that <new> names")
    .option("--admin-token <token>", "of a running gateway (default: $GATEWAY_ADMIN_TOKEN)")
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
    .description("run tests of a configuration, offline: what plans, limits and faults of upstreams come to")
    .argument("[files...]", "default: gateway.test.yaml beside the configuration, or in test/ there")
    .addOption(
      new Option("--format <format>", `how to print ${DEFAULT_FORMAT}`).choices(["text", "json", "junit", "github"]),
    )
    .option("--junit <file>", "also write a report in JUnit's XML to this file")
    .option("--filter <text>", "only tests with this in their name")
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
    .description("say what would become of a request, and why: every stage, limit and step of the chain, offline")
    .argument("[model]", "as clients name it")
    .option("--request <id>", "a past request by its id or X-Request-Id, then and now, instead of a model")
    .option("--log <file>", "decision log that has it; the configured one unless given; may be repeated", list, [])
    .option("--tier <tier>", "plan; that of --user unless given, or the only plan")
    .option("--user <user>", "id or address of the user, with their counters and credits; needs --store")
    .option("--key <key-id>", "key of the user, as `keys list` shows it")
    .option("--store", "read the configured store; nothing is counted or charged")
    .option("--down <upstream>", "refuses connections; may be repeated", list, [])
    .option("--open <upstream>", "has its breaker open; may be repeated", list, [])
    .option("--fault <upstream=script>", "fails as a script of `gateway sim` says; may be repeated", list, [])
    .addOption(new Option("--endpoint <name>", "default: that of the model's kind").choices(ENDPOINTS))
    .option("--stream", "ask for a stream")
    .option("--body <json>", "fields of the body, or @FILE with them")
    .option("--prompt-tokens <number>", "that the upstream will count; by the body's size unless given", parseCount)
    .option("--output-tokens <number>", "the same; as many as are held unless given", parseCount)
    .addOption(new Option("--format <format>", "how to print").choices(["text", "json"]).default("text"))
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
    .description("put the requests of a decision log to a configuration, and say what would differ")
    .argument("[logs...]", "decision logs (default: the one that the configuration writes)")
    .option(
      "--against <file>",
      "compare with a replay of this file, or of a file in git (HEAD:gateway.yaml), not with what was logged",
    )
    .option("--limits", "tell what limits refuse, and how much users ask for")
    .option("--since <time>", "compare requests from then on; those before are replayed for their counters", parseTime)
    .option("--until <time>", "leave out requests from then on", parseTime)
    .option("--tier <tier>", "compare requests of this plan")
    .option("--model <model>", "compare requests for this model")
    .option(
      "--fail-on <what>",
      "exit with 1 for any, refusals, upstreams, models (beyond :10 or :1%), or cost:5%; may be repeated",
      thresholds,
      [],
    )
    .addOption(new Option("--format <format>", "how to print").choices(["text", "json", "markdown"]).default("text"))
    .action(async (files: readonly string[], _options: object, command: Command) => {
      const { replayLog } = await import("./replay.ts");
      await replayLog(files, command.optsWithGlobals<ReplayOptions>());
    });
}
