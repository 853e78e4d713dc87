import type { Grant } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct, useRead } from '../../queries.ts';
import { scopeWords } from './scope.ts';

const TOOL = /^tool\.call\.(.+)$/;

export function RevokeGrant({ grant, onClose, onRevoked }: { grant: Grant; onClose: () => void; onRevoked: () => void }) {
  const revoke = useAct('capabilities.revoke');
  const say = useToast();
  const tool = TOOL.exec(grant.action)?.[1];
  const day = useRead('tools.show', { name: tool ?? '' }, { enabled: tool !== undefined }).data;
  const act = (): void => {
    revoke.mutateAsync({ grant_id: grant.grant_id }).then(
      () => {
        say(`Revoked ${grant.action} from ${grant.subject_name}.`);
        onRevoked();
      },
      () => {},
    );
  };
  return (
    <Confirm
      title="Revoke this grant?"
      act="Revoke grant"
      pending={revoke.isPending}
      error={revoke.error}
      failed="Nothing was revoked."
      onAct={act}
      onClose={onClose}
    >
      <p>
        <span className="mono">
          <Said text={grant.action} />
        </span>{' '}
        to <Said text={grant.subject_name} />: {scopeWords(grant)}.
      </p>
      <p>
        From the next call on they are refused, unless another grant allows it.{' '}
        {day && `${counted(day.calls_24h, 'call')} of this tool in the last 24 h, by anybody.`}
      </p>
      <p className="text-muted">A revoked grant does not come back; the same can be granted anew.</p>
      <CliCommand words={`capabilities revoke ${grant.grant_id}`} />
    </Confirm>
  );
}
