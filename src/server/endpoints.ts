export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** `{name}` stands for a part of the path; that of a model may contain slashes. */
  readonly path: string;
  readonly credentials: "none" | "API key" | "API key or access token" | "access token" | "refresh token";
}

/** The whole public API. README's table and the route table are compared with this one by tests. */
export const ENDPOINTS: readonly Endpoint[] = Object.freeze([
  { method: "POST", path: "/v1/chat/completions", credentials: "API key" },
  { method: "POST", path: "/v1/messages", credentials: "API key" },
  { method: "POST", path: "/v1/messages/count_tokens", credentials: "API key" },
  { method: "POST", path: "/v1/responses", credentials: "API key" },
  { method: "POST", path: "/v1/embeddings", credentials: "API key" },
  { method: "POST", path: "/v1/rerank", credentials: "API key" },
  { method: "POST", path: "/v2/rerank", credentials: "API key" },
  { method: "POST", path: "/v1/audio/speech", credentials: "API key" },
  { method: "POST", path: "/v1/audio/transcriptions", credentials: "API key" },
  { method: "POST", path: "/v1/images/generations", credentials: "API key" },
  { method: "GET", path: "/v1/models", credentials: "none" },
  { method: "GET", path: "/v1/models/{model_id}", credentials: "API key or access token" },
  { method: "GET", path: "/v1/pricing", credentials: "API key or access token" },
  { method: "GET", path: "/v1/status", credentials: "none" },
  { method: "GET", path: "/v1/settings", credentials: "none" },
  { method: "GET", path: "/v1/user/requests", credentials: "API key or access token" },
  { method: "GET", path: "/v1/user/requests/hourly", credentials: "API key or access token" },
  { method: "POST", path: "/v1/user/streams/kill", credentials: "API key or access token" },
  { method: "POST", path: "/v1/user/key", credentials: "access token" },
  { method: "GET", path: "/v1/user/key", credentials: "access token" },
  { method: "DELETE", path: "/v1/user/key/{key_id}", credentials: "access token" },
  { method: "POST", path: "/auth/login", credentials: "none" },
  { method: "POST", path: "/auth/login/verify", credentials: "none" },
  { method: "GET", path: "/auth/oauth/{provider}", credentials: "none" },
  { method: "GET", path: "/auth/oauth/{provider}/callback", credentials: "none" },
  { method: "POST", path: "/auth/refresh", credentials: "refresh token" },
  { method: "POST", path: "/auth/logout", credentials: "refresh token" },
  { method: "GET", path: "/openapi.json", credentials: "none" },
]);
