import { GatewayError } from "../../../kit/index.ts";
import { json } from "../../endpoint.ts";
import { jsonResponse } from "../../router.ts";
import { type AdminEndpoint, type ReloadResult, row } from "../endpoint.ts";

const CHANGE_ANSWERS = {
  200: { description: "It was taken.", content: json("ConfigurationTaken") },
  422: { description: "It was not: what served before serves on.", content: json("ConfigurationRefused") },
};

/** The configuration in force, changes of it, and what it does with a request. */
export const CONFIGURATION: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/config",
    role: "viewer",
    id: "getConfiguration",
    tag: "Configuration",
    summary: "The configuration in force",
    answers: { 200: { description: "With its instances and its guard.", content: json("ConfigurationState") } },
    errors: [],
    route:
      ({ config }) =>
      () =>
        config(),
  }),
  row({
    method: "GET",
    path: "/admin/config/source",
    role: "viewer",
    id: "getConfigurationSource",
    tag: "Configuration",
    summary: "The configuration in force as it is written",
    answers: {
      200: { description: "References unresolved, secrets left out, no code.", content: json("ConfigurationSource") },
    },
    errors: [],
    route:
      ({ source }) =>
      () =>
        source(),
  }),
  row({
    method: "GET",
    path: "/admin/generations",
    role: "viewer",
    id: "listGenerations",
    tag: "Configuration",
    summary: "The last configurations that served",
    answers: { 200: { description: "With what each of them meant.", content: json("GenerationList") } },
    errors: ["OVERLOADED"],
    route:
      ({ services }) =>
      async () => ({ data: await services.listGenerations() }),
  }),
  row({
    method: "GET",
    path: "/admin/config/diff",
    role: "viewer",
    id: "diffConfigurations",
    tag: "Configuration",
    summary: "What it means to go from one configuration to another",
    query: "ConfigurationDiffQuery",
    answers: { 200: { description: "By effect, whatever the files look like.", content: json("ConfigurationDiff") } },
    errors: ["NOT_FOUND", "OVERLOADED"],
    route:
      ({ services }) =>
      ({ query: { from, to = null } }) =>
        services.diffGenerations(from, to),
  }),
  row({
    method: "POST",
    path: "/admin/reload",
    role: "operator",
    id: "reload",
    tag: "Configuration",
    summary: "Reads the files again",
    description: "Also ends the cooldowns of all upstreams' keys at once.",
    answers: CHANGE_ANSWERS,
    errors: [],
    changesNoStore: true,
    route:
      ({ reload, log }) =>
      async ({ note }) => {
        const result = await reload();
        note({ details: detailsOf(result) });
        log.info({ ok: result.ok }, "reload requested over the admin listener");
        return resultResponse(result);
      },
  }),
  row({
    method: "POST",
    path: "/admin/rollback",
    role: "operator",
    id: "rollBack",
    tag: "Configuration",
    summary: "Returns to a former configuration",
    body: "RollbackRequest",
    bodyIs: "optional, of any type",
    answers: CHANGE_ANSWERS,
    errors: [],
    changesNoStore: true,
    route:
      ({ rollback, log }) =>
      async ({ body: { to = 1 }, note }) => {
        const result = await rollback(to);
        note({ target: String(to), details: detailsOf(result) });
        log.info({ ok: result.ok, to }, "rollback requested over the admin listener");
        return resultResponse(result);
      },
  }),
  row({
    method: "POST",
    path: "/admin/explain",
    role: "viewer",
    id: "explain",
    tag: "Configuration",
    summary: "Explains a request",
    description: "Nothing is counted, charged or sent.",
    body: "ExplainRequest",
    answers: {
      200: { description: "What becomes of it, and why; of a past one also what did.", content: json("ExplainAnswer") },
    },
    errors: ["OVERLOADED", "STORE_UNAVAILABLE"],
    route:
      ({ explain }) =>
      async ({ body }) => {
        const result = await explain(body);
        if (!result.ok) throw new GatewayError(result.code, result.message);
        return result.explanation;
      },
  }),
];

/** Field by field: what else the result says is not part of the contract. */
function resultResponse(result: ReloadResult): ReturnType<typeof jsonResponse> {
  if (!result.ok) return jsonResponse(422, { ok: false, diagnostics: result.diagnostics });
  const { hash, guarded, cooldowns_ended } = result;
  return jsonResponse(200, {
    ok: true,
    hash,
    ...(guarded && { guarded }),
    ...(cooldowns_ended && { cooldowns_ended }),
  });
}

/** What the audit log has of it. */
function detailsOf(result: ReloadResult) {
  if (!result.ok) return { ok: false, findings: result.diagnostics.length };
  return { ok: true, hash: result.hash, ...(result.guarded && { guarded: true }) };
}
