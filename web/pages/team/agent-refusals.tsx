import type { ShownAgent } from '../../api.ts';
import { EmptyState, Section } from '../../parts/layout.tsx';
import { counted, PathLink, UntrustedText } from '../../parts/values.tsx';
import { deniedWords } from '../events/denied-edit.ts';
import { RefusalCard, stepOf } from '../events/refusal.tsx';
import { commandIn, remedyOf } from './refusal-remedy.ts';

type Refusal = ShownAgent['refusals'][number];

/** How many refusals are shown. Older ones are folded. */
const OPEN = 3;

/** Lists the agent's refused calls, with the messages that the agent received. */
export function AgentRefusals({ shown: { refusals, agent, grants } }: { shown: ShownAgent }) {
  const card = (refusal: Refusal) => <Refused key={refusal.seq} refusal={refusal} instanceId={agent.instance_id} grants={grants} />;
  const about = agent.refused_24h > refusals.length ? `newest ${refusals.length} of ${agent.refused_24h}` : counted(refusals.length, 'refusal');
  return (
    <Section title="Refusals, last 24 hours" about={refusals.length > 0 && about}>
      <div id="refusals" className="grid scroll-mt-4 gap-2">
        {refusals.length === 0 && (
          <div className="panel">
            <EmptyState>No refusals.</EmptyState>
          </div>
        )}
        {refusals.slice(0, OPEN).map(card)}
        {refusals.length > OPEN && (
          <details>
            <summary className="cursor-pointer py-1 text-muted">{refusals.length - OPEN} earlier</summary>
            <div className="mt-1 grid gap-2">{refusals.slice(OPEN).map(card)}</div>
          </details>
        )}
      </div>
    </Section>
  );
}

interface RefusedProps {
  refusal: Refusal;
  instanceId: string | null;
  grants: ShownAgent['grants'];
}

function Refused({ refusal, instanceId, grants }: RefusedProps) {
  const { outcome, code, required_action, edit } = refusal;
  const step = stepOf(outcome, code);
  const remedy = remedyOf(refusal, instanceId);
  const command = commandIn(required_action);
  return (
    <RefusalCard
      refusal={{ ...refusal, step, ...(edit && deniedWords(edit)) }}
      evidence={step === 'capability' && grants && <UntrustedText text={`Grants: ${grants.map(({ action }) => action).join(', ') || 'none'}`} />}
      remedy={
        remedy && (
          <PathLink path={remedy.path} className="button">
            {remedy.label}
          </PathLink>
        )
      }
      {...(command && { command })}
    />
  );
}
