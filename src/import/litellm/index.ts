import { dirname, resolve } from "node:path";
import { addModels, type Group } from "../chains.ts";
import { Draft } from "../draft.ts";
import { at, type Field, ImportError, readSource } from "../source.ts";
import { readRow, type Row } from "./deployments.ts";
import { balanceOf, fallbacksOf, readAliases, readReliability, type Setting, withWeights } from "./routing.ts";
import { readSettings } from "./settings.ts";
import { destinationOf, litellmProvider } from "./destination.ts";

const REFERENCE = /^os\.environ\/(.+)$/;
/** What a configuration of LiteLLM has at its top, one at least. */
export const LITELLM_KEYS = ["model_list", "litellm_settings", "router_settings", "general_settings"] as const;
const MAX_INCLUDES = 100;

/** Reads a `config.yaml` of LiteLLM: https://docs.litellm.ai/docs/proxy/config_settings. @throws ImportError */
export async function importLitellm(root: Field, path: string): Promise<Draft> {
  const draft = new Draft((text) => REFERENCE.exec(text)?.[1] ?? null);
  const roots = [root, ...(await includesOf(root, path))];
  for (const one of roots) draft.addSource(one);
  draft.findings.mapped(at(root, "include"), null, "is imported with the file, into one configuration");
  const credentials = new Map(
    roots
      .flatMap((one) => at(one, "credential_list")?.items ?? [])
      .flatMap((credential) => {
        const name = at(credential, "credential_name")?.text;
        const values = at(credential, "credential_values");
        return name == null || values === undefined ? [] : [[name, values] as const];
      }),
  );
  const rows = roots.flatMap((one) => at(one, "model_list")?.items ?? []);
  reserveDefaults(draft, rows);
  const setting: Setting = (key) =>
    roots
      .map(
        (one) =>
          at(one, "router_settings", key) ?? at(one, "litellm_settings", key) ?? at(one, "general_settings", key),
      )
      .find((field) => field !== undefined);
  const names = new Map<string, string>();
  const idOf = (name: string): string => {
    const id = names.get(name) ?? draft.modelId(name);
    names.set(name, id);
    return id;
  };
  const balance = balanceOf(draft, setting);
  const shared: Setting = (key) =>
    roots.map((one) => at(one, "litellm_settings", key)).find((field) => field !== undefined);
  const read = rows.flatMap((row) =>
    isWildcard(row) ? wildcard(draft, row) : (readRow(draft, row, { credentials, idOf, shared }) ?? []),
  );
  const groups = groupsOf(draft, read, names, balance);
  readAliases(draft, setting, names, groups);
  const fallbacks = fallbacksOf(draft, setting, names, groups);
  readReliability(draft, setting);
  addModels(draft, groups, fallbacks);
  addDefaults(draft, read, names, groups);
  for (const row of rows) draft.findings.lost(row, "is no parameter of a deployment that is known");
  for (const one of roots) {
    for (const credential of at(one, "credential_list")?.items ?? []) tellCredential(draft, credential);
    readSettings(draft, one, setting);
  }
  return draft;
}

/** Files that the configuration includes: `include`, relative to it. Included files include no others. */
async function includesOf(root: Field, path: string): Promise<readonly Field[]> {
  const include = at(root, "include");
  const items = include?.kind === "list" ? include.items : [];
  if (items.length > MAX_INCLUDES)
    throw new ImportError(`${include!.file}:${include!.line}: more than ${MAX_INCLUDES} files are included`);
  return Promise.all(
    items.map(async (item) => {
      const name = item.text;
      if (name === null) throw new ImportError(`${item.file}:${item.line}: ${item.path} is no name of a file`);
      try {
        const included = await readSource(resolve(dirname(path), name), name, `${name}#`);
        if (included.kind !== "map") throw new ImportError(`${name} is no map: it cannot be included`);
        return included;
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        throw new ImportError(
          `${item.file}:${item.line}: ${error.message} (included here; put the file there, or remove the line)`,
          { cause: error },
        );
      }
    }),
  );
}

/** A deployment without a key takes the provider's own variable: no secret of the source is given its name. */
function reserveDefaults(draft: Draft, rows: readonly Field[]): void {
  for (const row of rows) {
    const own = at(row, "litellm_params");
    const model = at(own, "model")?.text;
    if (model == null || at(own, "api_key") !== undefined) continue;
    const destination = destinationOf(
      model,
      at(own, "custom_llm_provider")?.text ?? null,
      at(own, "api_base") !== undefined,
    );
    if ("provider" in destination && !/^(?:bedrock|vertex)/.test(destination.provider))
      draft.variables.reserve(litellmProvider(destination.provider).variable);
  }
}

function isWildcard(row: Field): boolean {
  return [at(row, "model_name"), at(row, "litellm_params", "model")].some((field) => field?.text?.includes("*"));
}

function wildcard(draft: Draft, row: Field): readonly Row[] {
  draft.findings.dropped(row, "stands for every model of a provider: write the ones you use as models of their own");
  return [];
}

function groupsOf(
  draft: Draft,
  rows: readonly Row[],
  names: ReadonlyMap<string, string>,
  balance: Group["balance"],
): Map<string, Group> {
  const byId = Map.groupBy(rows, ({ name }) => names.get(name.text!)!);
  const groups = new Map<string, Group>();
  for (const [id, all] of byId) {
    const [first] = all;
    const same = all.filter(({ kind }) => kind === first!.kind);
    for (const other of all)
      if (other.kind !== first!.kind)
        draft.findings.dropped(other.params, `the model is of kind ${first!.kind}: a chain has one kind`);
    const deployments = withWeights(draft, same, balance);
    groups.set(id, {
      id,
      kind: first!.kind,
      deployments,
      model: Object.assign({}, ...same.toReversed().map(({ model }) => model)) as Group["model"],
      isLocal: same.every(({ isLocal }) => isLocal),
      balance,
    });
  }
  return groups;
}

/** What requests of a model are filled up with: a step of the pipeline for all models that have the same. */
function addDefaults(
  draft: Draft,
  rows: readonly Row[],
  names: ReadonlyMap<string, string>,
  groups: ReadonlyMap<string, Group>,
): void {
  const models = new Map<string, string[]>();
  const reason = "is set in every request of the model, by the plugin transform: a client cannot choose another value";
  for (const [id, same] of Map.groupBy(rows, ({ name }) => names.get(name.text!)!)) {
    const sets = new Set(same.map(({ defaults }) => JSON.stringify(defaults.set)));
    const fields = same.flatMap(({ defaults }) => defaults.fields);
    const [set] = sets;
    if (sets.size > 1 || set === undefined) {
      for (const field of fields)
        draft.findings.lost(field, "differs among the deployments of the model: set it by parameters of the steps");
    } else if (fields.length > 0) {
      // Aliases have the deployments of their model.
      const all = [...groups.values()].filter(({ deployments }) => deployments === groups.get(id)?.deployments);
      models.set(set, [...(models.get(set) ?? []), ...all.map((one) => one.id)]);
      for (const field of fields) draft.findings.changed(field, "/pipeline", reason);
    }
  }
  for (const [set, ids] of models)
    draft.addStep({
      use: "transform",
      options: { set: JSON.parse(set) as Record<string, unknown> },
      when: { models: ids },
    });
}

function tellCredential(draft: Draft, credential: Field): void {
  const { findings } = draft;
  findings.mapped(at(credential, "credential_name"), null, "is not needed: the upstream has the credential's values");
  findings.mapped(at(credential, "credential_info"), null, "is not needed: it describes the credential");
  const values = at(credential, "credential_values");
  if (values !== undefined) findings.lost(values, "no deployment of model_list that is imported uses it");
}
