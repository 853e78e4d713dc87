import type { Claim } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { Id, shortId } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said, workerOf } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { Mode, ReleaseButton } from './claim-columns.tsx';
import { DeniedEdits } from './denied-edits.tsx';

const STATES: Record<Claim['state'], Tone> = { live: 'live', released: 'quiet', expired: 'quiet' };

interface ClaimPanelProps {
  /** Its id, or the end of it. */
  id: string;
  /** As the list has it, until it is read by itself. */
  listed: Claim | undefined;
  onClose: () => void;
  onRelease: (claim: Claim) => void;
}

/** One claim, also one that is over. */
export function ClaimPanel({ id, listed, onClose, onRelease }: ClaimPanelProps) {
  const { data, error, refetch } = useRead('claims.show', { claim_id: id });
  const claim = data?.claim ?? listed;
  if (!claim) {
    return (
      <SidePanel title={shortId(id)} onClose={onClose}>
        {error ? <Problem what="The claim could not be read." error={error} onRetry={() => void refetch()} /> : <TableSkeleton />}
      </SidePanel>
    );
  }
  return (
    <SidePanel title={`Claim in ${claim.repo}`} onClose={onClose}>
      {error && <Problem what="The claim could not be read again." error={error} onRetry={() => void refetch()} />}
      <Facts>
        <Fact name="State">
          <State tone={STATES[claim.state]}>{claim.state}</State>
        </Fact>
        <Fact name="Mode">
          <Mode mode={claim.mode} />
        </Fact>
        <Fact name="Holder">
          <AgentName name={workerOf(claim.developer, claim.agent_type)} id={claim.agent_id} />
        </Fact>
        <Fact name="Reason">{claim.reason && <Said text={claim.reason} />}</Fact>
        <Fact name="Repository">
          <Said text={claim.repo} />
        </Fact>
        <Fact name="Claimed">
          <Time at={claim.claimed_at} />
        </Fact>
        {claim.ended_at === null ? (
          <Fact name="Expires">
            <Until at={claim.expires_at} />
          </Fact>
        ) : (
          <Fact name="Ended">
            <Time at={claim.ended_at} />
          </Fact>
        )}
        <Fact name="Claim">
          <Id id={claim.claim_id} />
        </Fact>
      </Facts>
      <Patterns what="path" patterns={claim.paths} />
      <Patterns what="symbol" patterns={claim.symbols} />
      <DeniedEdits claimId={claim.claim_id} />
      <div>
        <ReleaseButton claim={claim} onRelease={onRelease} />
      </div>
    </SidePanel>
  );
}

function Patterns({ what, patterns }: { what: string; patterns: readonly string[] }) {
  if (patterns.length === 0) return null;
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">{counted(patterns.length, what)}</h3>
      <ul className="mono grid gap-0.5">
        {patterns.map((pattern) => (
          <li key={pattern}>
            <Said text={pattern} />
          </li>
        ))}
      </ul>
    </div>
  );
}
