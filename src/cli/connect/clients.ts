import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Format, PLACEHOLDER } from "./formats.ts";

/** What a client has to know of a gateway. */
export interface Connection {
  /** Without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Null: the settings name a variable, or hold a placeholder. */
  readonly key: string | null;
  readonly model: string;
  /** Tokens. */
  readonly contextWindow: number;
}

/** Where a client looks for its settings. */
export interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The current folder. */
  readonly folder: string;
}

export interface Client {
  readonly name: string;
  /** Other names that people give it. */
  readonly aliases?: readonly string[];
  readonly title: string;
  /** The client's own documentation or source: file, names and format of its settings. */
  readonly sources: readonly string[];
  readonly format: Format;
  /** The path as the client's documentation writes it. */
  readonly shown: string;
  /** The absolute path on this machine. */
  readonly file: (place: Place) => string;
  readonly settings: (connection: Connection) => Readonly<Record<string, unknown>> | string;
  /** Settings, by path, that a new file needs and whose value does not matter in one that is there. */
  readonly formal?: readonly string[];
  /** How the client gets a key that its settings do not hold. */
  readonly keyFrom: string;
  /** What to do next, and what to watch. */
  readonly next: readonly string[];
}

/** Settings that can name a variable name this one. */
export const KEY_VARIABLE = "GATEWAY_API_KEY";

const EXPORTED = `export ${KEY_VARIABLE}=rk_… in the shell that starts it`;

const openai = (url: string): string => `${url}/v1`;

function home({ env }: Place): string {
  return env["HOME"] || homedir();
}

function xdg(place: Place): string {
  return place.env["XDG_CONFIG_HOME"] || join(home(place), ".config");
}

/** Clients by name, coding agents first. Adding one is an entry here and a page in docs/recipes. */
export const CLIENTS: readonly Client[] = [
  {
    name: "claude",
    aliases: ["claude-code"],
    title: "Claude Code",
    sources: [
      "https://code.claude.com/docs/en/settings",
      "https://code.claude.com/docs/en/llm-gateway",
      "https://code.claude.com/docs/en/model-config",
    ],
    format: "json",
    shown: "~/.claude/settings.json",
    file: (place) => join(place.env["CLAUDE_CONFIG_DIR"] || join(home(place), ".claude"), "settings.json"),
    settings: ({ url, key, model }) => ({
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: key ?? PLACEHOLDER,
        ANTHROPIC_MODEL: model,
        // Its names for models, and what it does in the background, lead to models of the gateway, too.
        ANTHROPIC_DEFAULT_OPUS_MODEL: model,
        ANTHROPIC_DEFAULT_SONNET_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      },
    }),
    keyFrom: "ANTHROPIC_AUTH_TOKEN in the settings or the environment",
    next: [
      "run claude; /status shows the address",
      "unset ANTHROPIC_API_KEY in your shell: the gateway would read it first",
    ],
  },
  {
    name: "codex",
    title: "Codex",
    sources: [
      "https://developers.openai.com/codex/config-reference",
      "https://developers.openai.com/codex/config-sample",
    ],
    format: "toml",
    shown: "~/.codex/config.toml",
    file: (place) => join(place.env["CODEX_HOME"] || join(home(place), ".codex"), "config.toml"),
    settings: ({ url, key, model }) => ({
      model,
      model_provider: "gateway",
      model_providers: {
        gateway: {
          name: "Gateway",
          base_url: openai(url),
          ...(key === null ? { env_key: KEY_VARIABLE } : { experimental_bearer_token: key }),
          wire_api: "responses",
        },
      },
    }),
    keyFrom: EXPORTED,
    next: ["run codex"],
  },
  {
    name: "opencode",
    title: "opencode",
    // Version 2 reads this form, too: https://opencode.ai/docs/migrate-v1
    sources: ["https://opencode.ai/docs/config", "https://opencode.ai/docs/providers"],
    format: "jsonc",
    shown: "~/.config/opencode/opencode.json",
    file: (place) => {
      const folder = join(xdg(place), "opencode");
      // Both are read, and the second one wins.
      const commented = join(folder, "opencode.jsonc");
      return existsSync(commented) ? commented : join(folder, "opencode.json");
    },
    settings: ({ url, key, model }) => ({
      $schema: "https://opencode.ai/config.json",
      model: `gateway/${model}`,
      small_model: `gateway/${model}`,
      provider: {
        gateway: {
          npm: "@ai-sdk/openai-compatible",
          name: "Gateway",
          options: { baseURL: openai(url), apiKey: key ?? `{env:${KEY_VARIABLE}}` },
          models: { [model]: {} },
        },
      },
    }),
    formal: ["$schema"],
    keyFrom: EXPORTED,
    next: ["run opencode; /models lists the model under Gateway"],
  },
  {
    name: "cline",
    title: "Cline",
    sources: [
      "https://docs.cline.bot/provider-config/openai-compatible",
      "https://github.com/cline/cline sdk/packages/core/src/types/provider-settings.ts, sdk/packages/shared/src/storage/paths.ts",
    ],
    format: "json",
    shown: "~/.cline/data/settings/providers.json",
    file: (place) => {
      const { CLINE_PROVIDER_SETTINGS_PATH: file, CLINE_DATA_DIR: data, CLINE_DIR: folder } = place.env;
      return file || join(data || join(folder || join(home(place), ".cline"), "data"), "settings", "providers.json");
    },
    settings: ({ url, key, model }) => ({
      version: 1,
      lastUsedProvider: "openai-compatible",
      providers: {
        "openai-compatible": {
          settings: { provider: "openai-compatible", apiKey: key ?? PLACEHOLDER, model, baseUrl: openai(url) },
          // Demanded by its schema. An old time lets whatever is set in Cline win.
          updatedAt: "2026-01-01T00:00:00.000Z",
          tokenSource: "manual",
        },
      },
    }),
    formal: ["version", "providers.openai-compatible.updatedAt", "providers.openai-compatible.tokenSource"],
    keyFrom: "apiKey in the settings",
    next: ["run cline; in its extension, select the provider OpenAI Compatible"],
  },
  {
    name: "continue",
    aliases: ["continuedev", "cn"],
    title: "Continue",
    sources: ["https://docs.continue.dev/reference", "https://docs.continue.dev/cli/configuration"],
    format: "yaml",
    shown: "~/.continue/config.yaml",
    file: (place) => join(place.env["CONTINUE_GLOBAL_DIR"] || join(home(place), ".continue"), "config.yaml"),
    settings: ({ url, key, model }) => ({
      name: "Gateway",
      version: "1.0.0",
      schema: "v1",
      models: [
        {
          name: "Gateway",
          provider: "openai",
          model,
          apiBase: openai(url),
          apiKey: key ?? `\${{ secrets.${KEY_VARIABLE} }}`,
          roles: ["chat", "edit", "apply"],
          capabilities: ["tool_use"],
        },
      ],
    }),
    formal: ["name", "version", "schema"],
    keyFrom: `${KEY_VARIABLE}=rk_… in ~/.continue/.env`,
    next: ["choose Gateway among the models"],
  },
  {
    name: "zed",
    title: "Zed",
    sources: [
      "https://zed.dev/docs/ai/use-api-access#openai-compatible",
      "https://zed.dev/docs/configuring-zed#settings-files",
    ],
    format: "jsonc",
    shown: "~/.config/zed/settings.json",
    file: (place) => {
      const { platform, env } = place;
      if (platform === "win32")
        return join(env["APPDATA"] || join(home(place), "AppData/Roaming"), "Zed/settings.json");
      const folder = platform === "linux" ? xdg(place) : join(home(place), ".config");
      return join(folder, "zed", "settings.json");
    },
    settings: ({ url, model, contextWindow }) => ({
      language_models: {
        openai_compatible: {
          gateway: {
            api_url: openai(url),
            available_models: [{ name: model, display_name: model, max_tokens: contextWindow }],
          },
        },
      },
      agent: { default_model: { provider: "gateway", model } },
    }),
    // The name of the variable is made of the provider's.
    keyFrom: `${EXPORTED}, or enter it in Zed's provider settings: Zed reads no key from this file`,
    next: ["choose the model in the agent panel"],
  },
  {
    name: "goose",
    title: "goose",
    sources: [
      "https://block.github.io/goose/docs/guides/config-files",
      "https://block.github.io/goose/docs/getting-started/providers",
    ],
    format: "yaml",
    shown: "~/.config/goose/config.yaml",
    file: (place) => {
      const { platform, env } = place;
      if (platform === "win32")
        return join(env["APPDATA"] || join(home(place), "AppData/Roaming"), "Block/goose/config/config.yaml");
      return join(xdg(place), "goose", "config.yaml");
    },
    settings: ({ url, model }) => ({
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: model,
      OPENAI_HOST: url,
      OPENAI_BASE_PATH: "v1/chat/completions",
    }),
    keyFrom:
      "export OPENAI_API_KEY=rk_… in the shell that starts it, or run goose configure: goose reads no key from this file",
    next: ["run goose"],
  },
  {
    name: "aider",
    title: "aider",
    sources: ["https://aider.chat/docs/llms/openai-compat.html", "https://aider.chat/docs/config/aider_conf.html"],
    format: "yaml",
    shown: "~/.aider.conf.yml",
    file: (place) => join(home(place), ".aider.conf.yml"),
    settings: ({ url, key, model }) => ({
      // The part before the first slash chooses the format, and is not sent.
      model: `openai/${model}`,
      "openai-api-base": openai(url),
      "openai-api-key": key ?? PLACEHOLDER,
    }),
    keyFrom: "openai-api-key in the settings",
    next: ["run aider in a repository"],
  },
  {
    name: "open-webui",
    aliases: ["openwebui"],
    title: "Open WebUI",
    sources: ["https://docs.openwebui.com/reference/env-configuration#openai"],
    format: "env",
    shown: "open-webui.env",
    file: ({ folder }) => join(folder, "open-webui.env"),
    settings: ({ url, key, model }) => ({
      ENABLE_OPENAI_API: "true",
      OPENAI_API_BASE_URL: openai(url),
      OPENAI_API_KEY: key ?? PLACEHOLDER,
      ENABLE_OLLAMA_API: "false",
      DEFAULT_MODELS: model,
    }),
    keyFrom: "OPENAI_API_KEY in the settings",
    next: [
      "docker run --env-file open-webui.env …; inside a container 127.0.0.1 is the container: use host.docker.internal",
      "Open WebUI reads them at its first start; later its own settings apply",
    ],
  },
  {
    name: "librechat",
    title: "LibreChat",
    sources: [
      "https://www.librechat.ai/docs/configuration/librechat_yaml/object_structure/custom_endpoint",
      "https://www.librechat.ai/docs/configuration/librechat_yaml/object_structure/config",
    ],
    format: "yaml",
    shown: "librechat.yaml",
    file: ({ folder }) => join(folder, "librechat.yaml"),
    settings: ({ url, key, model }) => ({
      version: "1.3.14",
      endpoints: {
        custom: [
          {
            name: "Gateway",
            apiKey: key ?? `\${${KEY_VARIABLE}}`,
            baseURL: openai(url),
            models: { default: [model], fetch: true },
            titleConvo: true,
            titleModel: model,
            modelDisplayLabel: "Gateway",
          },
        ],
      },
    }),
    formal: ["version"],
    keyFrom: `${KEY_VARIABLE}=rk_… in LibreChat's .env`,
    next: ["restart LibreChat; inside a container 127.0.0.1 is the container: use host.docker.internal"],
  },
  {
    name: "langchain",
    title: "LangChain",
    sources: ["https://docs.langchain.com/oss/javascript/integrations/chat/openai#custom-urls"],
    format: "program",
    shown: "gateway-langchain.mjs",
    file: ({ folder }) => join(folder, "gateway-langchain.mjs"),
    settings: ({ url, key, model }) => `// npm install @langchain/openai
${imported("{ ChatOpenAI }", "@langchain/openai")}

const llm = new ChatOpenAI({
  model: ${JSON.stringify(model)},
  apiKey: ${javascriptKey(key)},
  configuration: { baseURL: ${JSON.stringify(openai(url))} },
});
const answer = await llm.invoke("Say hello.");
console.log(answer.text);
`,
    keyFrom: EXPORTED,
    next: ["node gateway-langchain.mjs"],
  },
  {
    name: "ai-sdk",
    aliases: ["aisdk", "vercel", "vercel-ai"],
    title: "AI SDK",
    sources: ["https://ai-sdk.dev/providers/openai-compatible-providers"],
    format: "program",
    shown: "gateway-ai-sdk.mjs",
    file: ({ folder }) => join(folder, "gateway-ai-sdk.mjs"),
    settings: ({ url, key, model }) => `// npm install ai @ai-sdk/openai-compatible
${imported("{ createOpenAICompatible }", "@ai-sdk/openai-compatible")}
${imported("{ generateText }", "ai")}

const gateway = createOpenAICompatible({
  name: "gateway",
  baseURL: ${JSON.stringify(openai(url))},
  apiKey: ${javascriptKey(key)},
  includeUsage: true,
});
const { text } = await generateText({ model: gateway(${JSON.stringify(model)}), prompt: "Say hello." });
console.log(text);
`,
    keyFrom: EXPORTED,
    next: ["node gateway-ai-sdk.mjs"],
  },
  {
    name: "javascript",
    aliases: ["js", "typescript", "node"],
    title: "JavaScript",
    sources: ["https://github.com/openai/openai-node", "https://github.com/anthropics/anthropic-sdk-typescript"],
    format: "program",
    shown: "gateway-hello.mjs",
    file: ({ folder }) => join(folder, "gateway-hello.mjs"),
    settings: ({ url, key, model }) => `// npm install openai @anthropic-ai/sdk
${imported("Anthropic", "@anthropic-ai/sdk")}
${imported("OpenAI", "openai")}

const key = ${javascriptKey(key)};
const model = ${JSON.stringify(model)};

const openai = new OpenAI({ baseURL: ${JSON.stringify(openai(url))}, apiKey: key });
const chat = await openai.chat.completions.create({ model, messages: [{ role: "user", content: "Say hello." }] });
console.log(chat.choices[0].message.content);

const anthropic = new Anthropic({ baseURL: ${JSON.stringify(url)}, apiKey: key });
const message = await anthropic.messages.create({
  model,
  max_tokens: 1024,
  messages: [{ role: "user", content: "Say hello." }],
});
console.log(message.content[0].text);
`,
    keyFrom: EXPORTED,
    next: ["node gateway-hello.mjs"],
  },
  {
    name: "python",
    aliases: ["openai", "anthropic"],
    title: "Python",
    sources: ["https://github.com/openai/openai-python", "https://github.com/anthropics/anthropic-sdk-python"],
    format: "program",
    shown: "gateway_hello.py",
    file: ({ folder }) => join(folder, "gateway_hello.py"),
    settings: ({ url, key, model }) => `# pip install openai anthropic
import os

from anthropic import Anthropic
from openai import OpenAI

key = ${key === null ? `os.environ["${KEY_VARIABLE}"]` : JSON.stringify(key)}
model = ${JSON.stringify(model)}

openai = OpenAI(base_url=${JSON.stringify(openai(url))}, api_key=key)
chat = openai.chat.completions.create(model=model, messages=[{"role": "user", "content": "Say hello."}])
print(chat.choices[0].message.content)

anthropic = Anthropic(base_url=${JSON.stringify(url)}, api_key=key)
message = anthropic.messages.create(
    model=model, max_tokens=1024, messages=[{"role": "user", "content": "Say hello."}]
)
print(message.content[0].text)
`,
    keyFrom: EXPORTED,
    next: ["python gateway_hello.py"],
  },
];

function javascriptKey(key: string | null): string {
  return key === null ? `process.env.${KEY_VARIABLE}` : JSON.stringify(key);
}

/** A line of the client's program, not of this file. */
function imported(names: string, from: string): string {
  return `import ${names} from "${from}";`;
}
