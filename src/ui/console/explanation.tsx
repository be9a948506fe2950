import type {
  ExplainedCharge,
  ExplainedStage,
  ExplainedStep,
  ExplainedTarget,
  Explanation as Explained,
} from "#schema";
import { formatCount, formatDuration } from "../shared/formats.ts";
import { Badge, Figure, Panel, type Tone } from "../shared/parts.tsx";
import { Credits, Until } from "../shared/time.tsx";
import { Flow, type FlowStep } from "./flow.tsx";
import { Facts, Hash, UpstreamLink } from "./state-parts.tsx";

/** The path of a request through the pipeline, with the decision of each stage and step. */
export function Explanation({ title, of }: { readonly title: string; readonly of: Explained }) {
  const { request, answer, charge, credits, limits } = of;
  const isRefused = answer.code !== null;
  return (
    <>
      <Panel
        title={
          <>
            {title}: <Badge tone={isRefused ? "bad" : "good"}>{answer.outcome.replaceAll("_", " ")}</Badge>
          </>
        }
      >
        <div class="numbers">
          <Figure label="Status" value={answer.status} hint={answer.code} />
          <Figure
            label="Served by"
            value={answer.upstream ?? "none"}
            hint={`after ${formatDuration(answer.took_ms)}`}
          />
          <Figure
            label="Estimated cost"
            value={<Credits amount={charge.expected} bare />}
            hint={`${usageText(charge.usage)}${charge.estimated ? ", estimated" : ""}`}
          />
          <Figure
            label="Reserved"
            value={<Credits amount={credits.hold} bare />}
            hint={credits.enforced ? credits.currency : `${credits.currency}, credits are not enforced`}
          />
        </div>
        {answer.message !== "" && <p class={`note ${isRefused ? "bad" : ""}`}>{answer.message}</p>}
      </Panel>
      <Panel title="Request path">
        <Flow label="Request path" steps={stepsOf(of)} />
      </Panel>
      <Panel title="Limits">
        <Facts
          rows={[
            ...WINDOWS.map(([name, text]) => {
              const { limit, used, resets_at } = limits[name];
              return [
                text,
                <span key={name}>
                  {limit === null
                    ? `${formatCount(used)} used, no limit`
                    : `${formatCount(used)} of ${formatCount(limit)}`}
                  , resets <Until at={resets_at} />
                </span>,
              ] as const;
            }),
            [
              "Streams",
              limits.streams.limit === null
                ? "no limit"
                : `${formatCount(limits.streams.running)} of ${formatCount(limits.streams.limit)}`,
            ],
            ["Evaluated as", `${request.tier}, ${request.endpoint}${request.stream ? ", streamed" : ""}`],
            ["Configuration", <Hash key="hash" of={request.hash} />],
          ]}
        />
      </Panel>
    </>
  );
}

const WINDOWS = [
  ["day", "Day"],
  ["hour", "Hour"],
  ["minute", "Minute"],
] as const;

function usageText({ image_variant: _priced, ...counts }: ExplainedCharge["usage"]): string {
  const counted = Object.entries(counts).filter(([, count]) => count > 0);
  return counted.map(([name, count]) => `${formatCount(count)} ${name.replaceAll("_", " ")}`).join(", ") || "no usage";
}

const STAGE_TONES: Readonly<Record<ExplainedStage["decision"], Tone>> = {
  passed: "good",
  answered: "good",
  changed: "good",
  skipped: "neutral",
  refused: "bad",
  failed: "bad",
  "does not apply": "neutral",
  "not reached": "neutral",
  "nothing to decide": "neutral",
};

const TARGET_TONES: Readonly<Record<ExplainedTarget["decision"], Tone>> = {
  served: "good",
  failed: "bad",
  skipped: "warn",
  "not tried": "neutral",
};

/** Inserts the chain in place of the relay stage, which is where it runs. */
function stepsOf({ stages, chain }: Explained): readonly FlowStep[] {
  const relay = stages.findIndex(({ stage }) => stage === "relay");
  const at = relay < 0 ? stages.length : relay;
  return [...stages.slice(0, at).map(stageStep), ...chain.map(chainStep), ...stages.slice(at).map(stageStep)];
}

function stageStep({ stage, plugin, decision, reason }: ExplainedStage): FlowStep {
  return {
    id: `${stage} ${plugin}`,
    kind: stage,
    boxes: [
      {
        id: plugin,
        title: plugin,
        badge: <Badge tone={STAGE_TONES[decision]}>{decision}</Badge>,
        text: reason,
        muted: decision === "does not apply" || decision === "not reached",
      },
    ],
  };
}

function chainStep({ balance, targets }: ExplainedStep, index: number): FlowStep {
  return {
    id: `step ${index}`,
    kind: `step ${index + 1}${targets.length > 1 ? `, ${balance}` : ""}`,
    boxes: targets.map((target) => ({
      id: `${target.upstream} ${target.model}`,
      title: <UpstreamLink name={target.upstream} />,
      badge: <Badge tone={TARGET_TONES[target.decision]}>{target.decision}</Badge>,
      text: <TargetText of={target} />,
      muted: target.decision === "not tried",
    })),
  };
}

function TargetText({ of }: { readonly of: ExplainedTarget }) {
  const { model, reason, requests, took_ms, dropped, lost_features } = of;
  return (
    <span class="details">
      <code>{model}</code>
      {reason !== "" && <span>{reason}</span>}
      {requests > 0 && (
        <span class="muted">
          {formatCount(requests)} sent, {formatDuration(took_ms)}
        </span>
      )}
      {dropped.length > 0 && <span>cannot be sent: {dropped.join(", ")}</span>}
      {lost_features.length > 0 && <span>lacks: {lost_features.join(", ")}</span>}
    </span>
  );
}
