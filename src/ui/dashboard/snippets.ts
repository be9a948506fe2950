/** Placeholder for a key that cannot be shown again. */
export const KEY_PLACEHOLDER = "rk_…";

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface SnippetParts {
  /** Origin of the gateway, without a trailing slash. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
}

/** Setup snippets for common clients, with origin, key and model filled in. */
export function snippets({ origin, key, model }: SnippetParts): readonly Snippet[] {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  return [
    {
      id: "curl",
      title: "curl",
      text: [
        `curl ${shell(`${origin}/v1/chat/completions`)} \\`,
        `  -H ${shell(`Authorization: Bearer ${key}`)} -H 'Content-Type: application/json' \\`,
        `  -d ${shell(body)}`,
      ].join("\n"),
    },
    {
      id: "openai",
      title: "OpenAI SDK",
      text: [
        "from openai import OpenAI",
        "",
        `client = OpenAI(base_url=${quoted(`${origin}/v1`)}, api_key=${quoted(key)})`,
        "answer = client.chat.completions.create(",
        `    model=${quoted(model)},`,
        '    messages=[{"role": "user", "content": "Hello"}],',
        ")",
        "print(answer.choices[0].message.content)",
      ].join("\n"),
    },
    {
      id: "anthropic",
      title: "Anthropic SDK",
      text: [
        "from anthropic import Anthropic",
        "",
        `client = Anthropic(base_url=${quoted(origin)}, api_key=${quoted(key)})`,
        "answer = client.messages.create(",
        `    model=${quoted(model)},`,
        "    max_tokens=1024,",
        '    messages=[{"role": "user", "content": "Hello"}],',
        ")",
        "print(answer.content[0].text)",
      ].join("\n"),
    },
    {
      id: "claude-code",
      title: "Claude Code",
      text: [
        `export ANTHROPIC_BASE_URL=${shell(origin)}`,
        `export ANTHROPIC_AUTH_TOKEN=${shell(key)}`,
        `export ANTHROPIC_MODEL=${shell(model)}`,
        `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shell(model)}`,
        "claude",
      ].join("\n"),
    },
    {
      id: "codex",
      title: "Codex",
      text: [
        "# ~/.codex/config.toml",
        `model = ${quoted(model)}`,
        'model_provider = "gateway"',
        "",
        "[model_providers.gateway]",
        'name = "Gateway"',
        `base_url = ${quoted(`${origin}/v1`)}`,
        'env_key = "GATEWAY_KEY"',
        'wire_api = "responses"',
        "",
        "# then, in the shell:",
        `# export GATEWAY_KEY=${shell(key)}`,
      ].join("\n"),
    },
    {
      id: "opencode",
      title: "opencode",
      text: JSON.stringify(
        {
          $schema: "https://opencode.ai/config.json",
          model: `gateway/${model}`,
          provider: {
            gateway: {
              npm: "@ai-sdk/openai-compatible",
              name: "Gateway",
              options: { baseURL: `${origin}/v1`, apiKey: key },
              models: { [model]: {} },
            },
          },
        },
        null,
        2,
      ),
    },
  ];
}

/** As one word of a POSIX shell. */
export function shell(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text of Python, TOML and JSON alike. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
