import type { ShownWorkflow } from '../../api.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { Scrolled } from '../../parts/scrolled.tsx';
import { Fact, Facts } from '../../parts/side-panel.tsx';

/** What it was asked for, and how it is to be done. Folded: whoever comes back knows it. */
export function PlanOf({ workflow: { plan, source_type, source_ref, source_content } }: { workflow: ShownWorkflow['workflow'] }) {
  return (
    <details className="mt-4">
      <summary className="cursor-pointer text-muted pointer-coarse:min-h-11 pointer-coarse:py-3">What it was asked for, and the plan</summary>
      <div className="panel mt-2 p-3">
        <Facts>
          <Fact name="From">
            {source_type.replace('_', ' ')}
            {source_ref && (
              <>
                {' '}
                <UntrustedText text={source_ref} />
              </>
            )}
          </Fact>
          <Fact name="Asked for">
            <Scrolled label="What was asked for" className="max-h-60">
              <UntrustedText text={source_content} />
            </Scrolled>
          </Fact>
          <Fact name="Plan">{plan && <UntrustedText text={plan.summary} />}</Fact>
          {plan && plan.approach !== '' && (
            <Fact name="Approach">
              <UntrustedText text={plan.approach} />
            </Fact>
          )}
          {plan && plan.risks.length > 0 && (
            <Fact name="Risks">
              <Lines texts={plan.risks} />
            </Fact>
          )}
          {plan && plan.assumptions.length > 0 && (
            <Fact name="Assumptions">
              <Lines texts={plan.assumptions} />
            </Fact>
          )}
        </Facts>
      </div>
    </details>
  );
}

export function Lines({ texts }: { texts: readonly string[] }) {
  return (
    <ul className="list-disc pl-5">
      {texts.map((text) => (
        <li key={text}>
          <UntrustedText text={text} />
        </li>
      ))}
    </ul>
  );
}
