import type { ComponentChildren } from "preact";

export interface FlowBox {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly badge?: ComponentChildren;
  readonly text?: ComponentChildren;
  /** It has no part in what is shown. */
  readonly muted?: boolean;
}

export interface FlowStep {
  readonly id: string;
  /** Above its boxes. */
  readonly kind: string;
  /** Several stand for a choice between them. */
  readonly boxes: readonly FlowBox[];
}

/** Steps one after the other, as boxes with arrows between; read out it is a numbered list. */
export function Flow({ label, steps }: { readonly label: string; readonly steps: readonly FlowStep[] }) {
  return (
    <ol class="flow" aria-label={label}>
      {steps.map(({ id, kind, boxes }) => (
        <li key={id} class="flow-step">
          <span class="muted small">{kind}</span>
          {boxes.map((box) => (
            <div key={box.id} class={`flow-box ${box.muted ? "muted-box" : ""}`}>
              <span class="row apart">
                <strong>{box.title}</strong>
                {box.badge}
              </span>
              {box.text && <span class="small">{box.text}</span>}
            </div>
          ))}
        </li>
      ))}
    </ol>
  );
}
