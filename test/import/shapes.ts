import type { SourceKind } from "../../src/import/run.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A configuration of each kind that has every place at which something is read: property tests change parts of it. */
export const SHAPES: Readonly<Record<SourceKind, Json>> = {
  litellm: {
    model_list: [
      {
        model_name: "chat",
        litellm_params: {
          model: "openai/gpt-4o",
          api_key: "os.environ/A_KEY",
          organization: "org",
          extra_headers: { "X-Title": "title", "X-Own": "own" },
          extra_body: { top_k: 1, own: { deep: "x" } },
          temperature: 0.5,
          timeout: 10,
          stream_timeout: 5,
          max_retries: 1,
          rpm: 10,
          weight: 1,
          order: 1,
          input_cost_per_token: "0.000001",
          output_cost_per_token: 0.000002,
          tags: ["a"],
          max_parallel_requests: 2,
        },
        model_info: {
          mode: "chat",
          max_input_tokens: 1000,
          max_output_tokens: 100,
          supports_vision: true,
          access_groups: ["g"],
        },
      },
      {
        model_name: "chat",
        litellm_params: {
          model: "azure/x",
          api_base: "https://x.openai.azure.com",
          api_key: "key-one-two",
          api_version: "2024-10-21",
          weight: 2,
        },
      },
      {
        model_name: "claude",
        litellm_params: {
          model: "bedrock/anthropic.claude",
          aws_region_name: "us-east-1",
          aws_access_key_id: "id",
          aws_secret_access_key: "secret",
        },
      },
      {
        model_name: "gemini",
        litellm_params: {
          model: "vertex_ai/gemini-2.5-pro",
          vertex_project: "my-project",
          vertex_location: "us-central1",
          vertex_credentials: "/etc/sa.json",
        },
      },
      { model_name: "local", litellm_params: { model: "ollama/llama", api_base: "http://localhost:11434" } },
      {
        model_name: "like",
        litellm_params: {
          model: "openai/y",
          api_base: "https://like.example.com/v1",
          litellm_credential_name: "shared",
        },
      },
      {
        model_name: "embed",
        litellm_params: { model: "openai/text-embedding-3-small" },
        model_info: { mode: "embedding" },
      },
    ],
    credential_list: [
      { credential_name: "shared", credential_values: { api_key: "shared-key-1" }, credential_info: {} },
    ],
    router_settings: {
      routing_strategy: "simple-shuffle",
      fallbacks: [{ chat: ["claude", "local"] }, { claude: ["chat"] }],
      context_window_fallbacks: [{ local: ["gemini"] }],
      content_policy_fallbacks: [{ chat: ["gemini"] }],
      model_group_alias: { alias: "chat", hidden: { model: "claude", hidden: true } },
      num_retries: 2,
      timeout: 60,
      allowed_fails: 3,
      cooldown_time: 30,
      redis_password: "redis-pass-1",
    },
    litellm_settings: {
      default_fallbacks: ["gemini"],
      drop_params: true,
      callbacks: ["prometheus", "langfuse"],
      cache: true,
      cache_params: { type: "redis", ttl: 60, password: "cache-pass-1" },
      extra_spend_tag_headers: ["x-team"],
      unknown: "u",
    },
    general_settings: {
      master_key: "master-key-1",
      database_url: "postgresql://u:p4ssword-x@db/x",
      max_request_size_mb: 10,
      health_check_interval: 60,
      background_health_checks: true,
      maximum_spend_logs_retention_period: "30d",
      unknown: [1, {}],
    },
    environment_variables: { A_KEY: "value-of-a-key" },
    unknown_section: { a: [] },
  },
  "one-api": {
    success: true,
    data: [
      {
        id: 1,
        type: 1,
        key: "key-of-one",
        status: 1,
        name: "one",
        weight: 1,
        base_url: "https://a.example.com",
        models: "gpt-4o,tts-1",
        group: "default",
        model_mapping: '{"gpt-4o":"x"}',
        priority: 1,
        other: "o",
        config: "{}",
      },
      {
        id: 2,
        type: 3,
        status: 1,
        name: "two",
        base_url: "https://b.openai.azure.com",
        models: "gpt-4o",
        other: "2024-10-21",
      },
      { id: 3, type: 33, key: "a|b|us-east-1", status: 1, name: "three", models: "anthropic.claude" },
      { id: 4, type: 30, status: 1, name: "four", base_url: "http://localhost:11434", models: "llama" },
    ],
  },
  bifrost: {
    client: { allowed_origins: ["*"], max_request_body_size_mb: 10, unknown: 1 },
    providers: {
      openai: {
        keys: [
          { id: "i", name: "n", value: "env.A_KEY", models: ["gpt-4o"], weight: 0.5 },
          { value: "key-of-two", models: ["gpt-4o", "*"], enabled: true },
        ],
        network_config: {
          base_url: "https://a.example.com",
          default_request_timeout_in_seconds: 60,
          max_retries: 1,
          extra_headers: { "X-Own": "own" },
        },
        concurrency_and_buffer_size: { concurrency: 10, buffer_size: 20 },
      },
      azure: {
        keys: [
          {
            value: "k",
            models: ["x"],
            azure_key_config: {
              endpoint: "https://x.openai.azure.com",
              api_version: "2024-10-21",
              deployments: { x: "y" },
            },
          },
        ],
      },
      vertex: {
        keys: [
          {
            models: ["gemini-2.5-pro"],
            vertex_key_config: { project_id: "p-roject", region: "us-east1", auth_credentials: "env.V" },
          },
        ],
      },
      bedrock: {
        keys: [{ models: ["nova"], bedrock_key_config: { access_key: "i", secret_key: "s", region: "us-east-1" } }],
      },
    },
    governance: { virtual_keys: [{ value: "vk-value-1" }] },
    unknown: {},
  },
  aisix: {
    _format_version: "1",
    provider_keys: [
      {
        display_name: "a",
        provider: "openai",
        api_key: "${A_KEY}",
        api_base: "https://a.example.com/v1",
        request: { default_headers: { "X-Own": "own" } },
      },
      { display_name: "b", provider: "amazon-bedrock", adapter: "bedrock", secret: "{}" },
    ],
    models: [
      {
        display_name: "m",
        model_name: "gpt-4o",
        provider: "openai",
        provider_key: "a",
        cost: { input_per_1k: 1, output_per_1k: 2 },
        timeout: 1000,
        rate_limit: { rpm: 1 },
      },
      { display_name: "n", model_name: "nova", provider_key: "b" },
      {
        display_name: "r",
        routing: {
          strategy: "failover",
          targets: [{ model: "m", weight: 1, priority: 0 }, { model: "n" }],
          retries: 1,
        },
      },
    ],
    api_keys: [{ display_name: "k", key_env: "K" }],
    unknown: 1,
  },
};
