import type { Claim } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Said, workerOf } from '../../parts/said.tsx';
import { dateOf } from '../../parts/time.tsx';
import { useAct } from '../../queries.ts';
import { claimedIn } from './claim-columns.tsx';

/** More of them say no more. */
const LISTED = 8;

interface ReleaseClaimProps {
  claim: Claim;
  onClose: () => void;
  onReleased: () => void;
}

export function ReleaseClaim({ claim, onClose, onReleased }: ReleaseClaimProps) {
  const release = useAct('claims.release');
  const { claim_id, paths, symbols, mode, repo, developer, agent_type, expires_at } = claim;
  const patterns = claimedIn(claim);
  const what = [paths.length > 0 && counted(paths.length, 'path'), symbols.length > 0 && counted(symbols.length, 'symbol')].filter(Boolean).join(' and ');
  return (
    <Confirm
      title="Release this claim?"
      act="Release claim"
      keep="Keep it"
      pending={release.isPending}
      error={release.error}
      failed="Nothing was released."
      onAct={() => release.mutate({ claim_id }, { onSuccess: onReleased })}
      onClose={onClose}
    >
      <p>
        <Said text={workerOf(developer, agent_type)} /> holds {what} of <Said text={repo} /> ({mode}) until {dateOf(expires_at)}. Once released, anybody can
        claim the code. The holder is not told: if it still works there, two may edit the same code.
      </p>
      <ul className="mono grid gap-0.5">
        {patterns.slice(0, LISTED).map((pattern) => (
          <li key={pattern}>
            <Said text={pattern} brief />
          </li>
        ))}
        {patterns.length > LISTED && <li className="text-muted">and {patterns.length - LISTED} more</li>}
      </ul>
      <CliCommand words={`claims release ${claim_id}`} />
    </Confirm>
  );
}
