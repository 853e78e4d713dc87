import type { Grant } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Id } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { dateOf, Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { GRANT_TONES, STATUS_WORDS } from './grant-columns.tsx';
import { scopeWords, usesLeft } from './scope.ts';
import { Written } from './written.tsx';

interface GrantPanelProps {
  id: string;
  onClose: () => void;
  onRevoke: (grant: Grant) => void;
}

export function GrantPanel({ id, onClose, onRevoke }: GrantPanelProps) {
  const { data, error, refetch } = useRead('capabilities.list', { grant_id: id });
  const grant = data?.items[0];
  return (
    <SidePanel title={grant?.action ?? 'Grant'} onClose={onClose}>
      {error && <Problem what="The grant could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {grant && <Shown grant={grant} onRevoke={() => onRevoke(grant)} />}
    </SidePanel>
  );
}

function Shown({ grant, onRevoke }: { grant: Grant; onRevoke: () => void }) {
  const { scope, status } = grant;
  return (
    <>
      <Facts>
        <Fact name="Status">
          <State tone={GRANT_TONES[status]}>{STATUS_WORDS[status]}</State>
        </Fact>
        <Fact name="Subject">
          <Said text={grant.subject_name} />
        </Fact>
        <Fact name="Action">
          <span className="mono">
            <Said text={grant.action} />
          </span>
        </Fact>
        <Fact name="Scope">{scopeWords(grant)}</Fact>
        <Fact name="Uses left">{usesLeft(grant)?.toLocaleString() ?? 'no limit'}</Fact>
        <Fact name="Expires">{scope.expires_at === undefined ? 'never' : dateOf(scope.expires_at)}</Fact>
        <Fact name="Given by">
          <Said text={grant.granted_by_name} />
        </Fact>
        <Fact name="Given">
          <Time at={grant.granted_at} />
        </Fact>
        <Fact name="Grant">
          <Id id={grant.grant_id} />
        </Fact>
      </Facts>
      {scope.arguments && (
        <div className="grid gap-1">
          <h3 className="text-muted">Only with these arguments</h3>
          <Written label="Allowed arguments" text={scope.arguments.allow.map((each) => JSON.stringify(each)).join('\n')} />
        </div>
      )}
      {status !== 'revoked' && (
        <div>
          <ActButton needs="operator" look="bad" onClick={onRevoke}>
            Revoke
          </ActButton>
        </div>
      )}
    </>
  );
}
