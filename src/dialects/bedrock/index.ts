import { ownModelOnly, type PaidBeside } from "../canonical/own-model.ts";
import { getJson } from "../canonical/requests.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import type { UpstreamDialect } from "../dialect.ts";
import { awsCredentials, errorMessage, exceptionName } from "./aws.ts";
import { chatRequest, FORM } from "./request.ts";

/** ToolSpecification.name: `[a-zA-Z0-9_-]+`, 1 to 64 (AWS, API_runtime_ToolSpecification). */
const NAMES: NameRules = { toolName: 64, toolNameCharacters: "word" };

const codec = namingTools({ type: "answer", request: chatRequest, ...FORM }, NAMES);

/** Tiers are rates (https://aws.amazon.com/bedrock/pricing). */
const PAID: PaidBeside = { fields: new Set(["service_tier"]) };

/** Amazon Bedrock's Converse, for chat models of every family. Keys of AWS sign their requests, others are bearer tokens. */
export const bedrock: UpstreamDialect = {
  name: "bedrock",
  signing: { by: "aws", service: "bedrock" },
  codecs: { chat: ownModelOnly(codec, PAID) },
  at: ({ accepts }) => ({ ...bedrock, codecs: { chat: ownModelOnly(codec, PAID, accepts) } }),
  // The one list that the runtime has: jobs that run by themselves.
  probe: (apiKey) => getJson("/async-invoke?maxResults=1", awsCredentials(apiKey) === null ? apiKey : ""),
  errorMessage,
  codeOf(headers) {
    const type = headers["x-amzn-errortype"];
    return typeof type === "string" ? exceptionName(type) : "";
  },
};
