import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigurationError } from "../../src/config/diagnostics.ts";
import { commandRunner, refreshSecrets } from "../../src/gateway/commands.ts";
import { compileOffline } from "../../src/gateway/compile.ts";
import { checkConfig, loadAgain, loadForAccounts, reloadFile } from "../../src/gateway/configuration.ts";
import { sourceBody } from "../../src/gateway/source-view.ts";
import { type Gateway, startGateway } from "../../src/gateway/start.ts";
import { type LogLine, memoryLog, waitFor } from "../server/support.ts";
import { passingFolder } from "../support/folder.ts";

const SECRET = "hush-hush-1234567890";
const ENV = { PATH: process.env["PATH"] };

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = passingFolder();
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
    if (name.endsWith(".sh")) await chmod(join(folder, name), 0o755);
  }
  return folder;
}

function configuration(key: string, more = ""): string {
  return `version: 1
server: { listen: [{ host: 127.0.0.1, port: 0 }] }
store: { url: "memory:" }
tiers:
  Free: { access: [Free], limits: { day: 50, hour: 50, minute: 100, streams: 50 } }
upstreams:
  alpha: { dialect: openai, base_url: "https://api.example.com/v1", api_keys: [${JSON.stringify(key)}] }
models:
  route/one:
    kind: chat
    tier: Free
    owned_by: alpha
    price: { input_per_million: 0.15, output_per_million: 0.6 }
    chain: [{ upstream: alpha, model: one }]
pipeline: [auth, plan-check, quota, breaker, stream-relay, meter]
${more}`;
}

async function started(file: string, lines: LogLine[]): Promise<Gateway> {
  const log = { ...memoryLog(lines), enabled: () => true, child: () => log } as never;
  const gateway = await startGateway({ file, env: ENV, mode: "serve", log });
  onTestFinished(() => gateway.close());
  return gateway;
}

function keyIn(gateway: Gateway): string {
  return gateway.generation.snapshot.upstreams["alpha"]!.apiKeys[0]!.reveal();
}

/** More than a few looks of a timer that looks every 5 ms. */
function looks(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 30));
}

interface Loading {
  readonly file: string;
  readonly lines: LogLine[];
  readonly settings: Parameters<typeof loadAgain>[0];
}

async function loading(key: string, files: Readonly<Record<string, string>> = {}, more = ""): Promise<Loading> {
  const folder = await folderWith({ "gateway.yaml": configuration(key, more), ...files });
  const lines: LogLine[] = [];
  const file = join(folder, "gateway.yaml");
  return { file, lines, settings: { file, env: ENV, mode: "serve", log: memoryLog(lines) } };
}

const keysOf = (loaded: Awaited<ReturnType<typeof loadAgain>>): readonly string[] =>
  loaded.snapshot!.upstreams["alpha"]!.apiKeys.map((key) => key.reveal());

describe("${exec:} in a configuration that serves", () => {
  test("runs without a shell, in the folder of the file; the last line end goes", async () => {
    const { settings } = await loading("Bearer ${exec:./key.sh 'two words' $HOME | x} $$", {
      "key.sh": '#!/bin/sh\nprintf "%s,%s,%s,%s,%s\\n" "$(pwd | xargs basename)" "$1" "$2" "$3" "$#"\n',
    });
    const loaded = await loadAgain(settings);
    expect(loaded.diagnostics).toEqual([]);
    expect(keysOf(loaded)[0]).toMatch(/^Bearer gateway-test-[\w-]+,two words,\$HOME,\|,4 \$$/);
  });

  test("a command that stands twice runs once a load, and again at the next", async () => {
    const { settings, file } = await loading("${exec:./key.sh}", {
      "key.sh": "#!/bin/sh\necho run >> runs\necho key-of-it\n",
    });
    await writeFile(
      file,
      readFileSync(file, "utf8").replace('["${exec:./key.sh}"]', '["a ${exec:./key.sh}", "b ${exec:./key.sh}"]'),
    );
    const runs = (): number => readFileSync(join(file, "../runs"), "utf8").trim().split("\n").length;
    expect(keysOf(await loadAgain(settings))).toEqual(["a key-of-it", "b key-of-it"]);
    expect(runs()).toBe(1);
    await loadAgain(settings);
    expect(runs()).toBe(2);
  });

  test("stderr is logged line by line, stdout nowhere", async () => {
    const { settings, lines } = await loading("${exec:./key.sh}", {
      "key.sh": `#!/bin/sh\necho looking >&2\necho found >&2\necho ${SECRET}\n`,
    });
    const loaded = await loadAgain(settings);
    expect(keysOf(loaded)).toEqual([SECRET]);
    expect(lines.map(({ fields, message }) => [fields, message])).toEqual(
      ["looking", "found"].map((text) => [{ command: "./key.sh", key: "/upstreams/alpha/api_keys/0" }, text]),
    );
    const all = [lines, loaded.diagnostics, loaded.sources, loaded.snapshot, sourceBody(loaded as never)];
    const shown = JSON.stringify(all, (_key, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
    expect(shown).not.toContain(SECRET);
    expect(JSON.stringify(sourceBody(loaded as never).files)).toContain("${exec:./key.sh}");
  });

  test.each([
    [
      "an exit code",
      "${exec:./key.sh now}",
      "#!/bin/sh\necho $SECRET\nexit 7\n",
      "the command ./key.sh ended with exit code 7",
    ],
    ["a signal", "${exec:./key.sh}", "#!/bin/sh\nkill -TERM $$\n", "the command ./key.sh was ended by SIGTERM"],
    ["no such command", "${exec:./nowhere --token=x}", "", "the command ./nowhere was not found"],
    ["no program", "${exec:./key.txt}", "", "the command ./key.txt may not be run"],
    [
      "bytes",
      "${exec:./key.sh}",
      "#!/bin/sh\nprintf '\\377'\n",
      "the command ./key.sh wrote something other than UTF-8 text",
    ],
    [
      "too much",
      "${exec:./key.sh}",
      "#!/bin/sh\nhead -c 2000000 /dev/zero\n",
      "the command ./key.sh wrote more than 1 MiB",
    ],
  ])("%s is an error with its place, which shows no output and no arguments", async (_name, key, script, message) => {
    const { settings } = await loading(key, { "key.sh": script.replace("$SECRET", SECRET), "key.txt": "" });
    const { ok, diagnostics } = await loadAgain(settings);
    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([
      {
        rule: "exec-failed",
        severity: "error",
        line: 7,
        pointer: "/upstreams/alpha/api_keys/0",
        message: `upstream 'alpha', api_keys[0]: ${message}`,
      },
    ]);
    expect(JSON.stringify(diagnostics)).not.toMatch(/hush|token=|sh now/);
  });

  test("one that takes too long is ended with all that it has started", async () => {
    const folder = await folderWith({ "slow.sh": "#!/bin/sh\nsleep 60 &\necho $! > child\nsleep 60\n" });
    const run = commandRunner({ file: join(folder, "gateway.yaml"), env: ENV, log: memoryLog(), timeoutMs: 300 });
    const ran = await run(["./slow.sh"], "./slow.sh", "/x");
    expect(ran).toMatchObject({ rule: "exec-failed", message: "the command ./slow.sh took longer than 0.3 s" });
    const child = Number(readFileSync(join(folder, "child"), "utf8"));
    const state = (): string => (existsSync(`/proc/${child}`) ? readFileSync(`/proc/${child}/stat`, "utf8") : "");
    await waitFor(() => state() === "" || state().includes(") Z "));
  });

  test("at a reload known values stand in for a command that fails", async () => {
    const { settings, lines } = await loading("${exec:./key.sh}", { "key.sh": "#!/bin/sh\nexit 1\n" });
    expect((await reloadFile(settings)).ok).toBe(false);
    expect(keysOf(await reloadFile(settings, new Map([["./key.sh", "old"]])))).toEqual(["old"]);
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      message: "secret not refreshed, the old value stays in service: the command ./key.sh ended with exit code 1",
    });
  });
});

describe("where commands are not run", () => {
  const MARKED = { "key.sh": "#!/bin/sh\ntouch ran\necho x\n" };

  test("check takes their values for unknown, without a finding", async () => {
    const { file } = await loading(
      "Bearer ${exec:./key.sh}",
      MARKED,
      'telemetry: { otlp: { endpoint: "${exec:./key.sh}" } }\n',
    );
    const { ok, diagnostics } = await checkConfig({ file, env: ENV, strict: true });
    expect([ok, diagnostics]).toEqual([true, []]);
    expect(existsSync(join(file, "../ran"))).toBe(false);
  });

  test("diff, test, explain and replay compile with a stand-in, the same for the same command", async () => {
    const { file } = await loading(
      "${exec:./key.sh}",
      MARKED,
      'telemetry: { otlp: { endpoint: "${exec:./key.sh}" } }\n',
    );
    const all = [await compileOffline({ file, env: ENV }), await compileOffline({ file, env: ENV, setsUp: true })];
    expect(all.map(({ ok, diagnostics }) => [ok, diagnostics])).toEqual([
      [true, []],
      [true, []],
    ]);
    expect(keysOf(all[0]!)).toEqual(keysOf(all[1]!));
    expect(existsSync(join(file, "../ran"))).toBe(false);
  });

  test("a command on accounts runs what the store needs, and nothing else", async () => {
    const { file } = await loading("${exec:./key.sh}", { ...MARKED, "url.sh": "#!/bin/sh\necho memory:\n" });
    await writeFile(file, readFileSync(file, "utf8").replace('"memory:"', '"${exec:./url.sh}"'));
    const { loaded } = await loadForAccounts({ file, env: ENV, log: memoryLog() });
    expect(loaded.snapshot.store.url.reveal()).toBe("memory:");
    expect(existsSync(join(file, "../ran"))).toBe(false);
  });
});

describe("a gateway that serves", () => {
  const KEY = { "key.sh": "#!/bin/sh\ncat value\n", value: "first" };

  test("does not start when a command fails, and says which", async () => {
    const { file } = await loading("${exec:./key.sh}", { "key.sh": "#!/bin/sh\nexit 3\n" });
    const start = startGateway({ file, env: ENV, mode: "serve", logLevel: "silent" });
    await expect(start).rejects.toThrow(ConfigurationError);
    await expect(start).rejects.toThrow("the command ./key.sh ended with exit code 3");
  });

  test("takes new values at a reload, and serves on by the old ones when a command fails", async () => {
    const { file, lines } = await loading("${exec:./key.sh}", KEY);
    const gateway = await started(file, lines);
    expect(keyIn(gateway)).toBe("first");
    expect(await gateway.reload()).toMatchObject({ ok: true, changed: false });
    await writeFile(join(file, "../value"), "second");
    expect(await gateway.reload()).toMatchObject({ ok: true, changed: true });
    expect(keyIn(gateway)).toBe("second");
    await writeFile(join(file, "../key.sh"), "#!/bin/sh\nexit 1\n");
    expect(await gateway.reload()).toMatchObject({ ok: false, diagnostics: [{ rule: "exec-failed" }] });
    expect(keyIn(gateway)).toBe("second");
  });

  test("secrets.refresh runs them in the background; a failure keeps the old value, and is logged", async () => {
    const { file, lines } = await loading("${exec:./key.sh}", KEY, "secrets: { refresh: 15m }\n");
    const gateway = await started(file, lines);
    expect(gateway.generation.snapshot.reload.refreshSecrets).toBe(900_000);
    await writeFile(join(file, "../value"), "second");
    await gateway.refreshSecrets();
    expect(keyIn(gateway)).toBe("second");
    await writeFile(join(file, "../key.sh"), "#!/bin/sh\nexit 1\n");
    await gateway.refreshSecrets();
    expect(keyIn(gateway)).toBe("second");
    expect(lines.some(({ message }) => message.startsWith("secret not refreshed"))).toBe(true);
    expect(JSON.stringify(lines)).not.toMatch(/"(?:first|second)"/);
  });

  test("a refresh is due so long after the configuration was loaded", async () => {
    let [now, runs] = [1_000, 0];
    const stop = refreshSecrets({
      reloader: { refresh: async () => void (runs += 1) },
      every: () => 15_000,
      loadedAt: () => 1_000,
      now: () => now,
      log: memoryLog(),
      lookMs: 5,
    });
    onTestFinished(stop);
    await looks();
    expect(runs).toBe(0);
    now = 16_000;
    await waitFor(() => runs === 1);
    await looks();
    expect(runs).toBe(1);
  });
});
