import { useState } from 'react';
import type { Instance, ShownInstance } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { EndInstance, type Ending } from './end-instance.tsx';
import { PullLink } from './pull-link.tsx';
import { Failures, Feedback, Rounds } from './rounds.tsx';
import { OPEN, STATUS_TONES } from './status.ts';

export function InstancePanel({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useRead('instances.show', { instance_id: id });
  const mayEnd = useRead('identity.me', {}).data?.operator === true;
  return (
    <SidePanel title={id} onClose={onClose}>
      {error && <Problem what="It could not be read." error={error} />}
      {data && <Shown shown={data} mayEnd={mayEnd} />}
    </SidePanel>
  );
}

function Shown({ shown, mayEnd }: { shown: ShownInstance; mayEnd: boolean }) {
  const { instance } = shown;
  return (
    <>
      {instance.at_limit && <AtLimit instance={instance} />}
      <Facts>
        <Fact name="Status">
          <State tone={STATUS_TONES[instance.status]}>{instance.status}</State>
        </Fact>
        <Fact name="Why">{instance.status_reason && <Said text={instance.status_reason} />}</Fact>
        <Fact name="Agent">
          {instance.agent} ({instance.running ? 'running' : 'ended'})
        </Fact>
        <Fact name="For">{instance.developer && <Said text={instance.developer} />}</Fact>
        <Fact name="Branch">
          <Said text={`${instance.branch} from ${instance.base_branch}`} />
        </Fact>
        <Fact name="Worktree">
          <Said text={instance.worktree_path} />
        </Fact>
        {instance.kept_reason && (
          <Fact name="Kept">
            <Said text={`its worktree is still there: ${instance.kept_reason}`} />
          </Fact>
        )}
        {instance.backup_ref && (
          <Fact name="Backup">
            <span className="mono">{instance.backup_ref}</span>
          </Fact>
        )}
        <Fact name="Pull request">
          <PullLink instance={instance} />
        </Fact>
        <Fact name="Started">
          <Time at={instance.created_at} />
        </Fact>
      </Facts>
      {instance.running && <CliCommand words={`instances attach ${instance.id}`} />}
      <Rounds shown={shown} />
      <Feedback items={shown.feedback} />
      <Failures items={shown.failures} />
      {mayEnd && OPEN.includes(instance.status) && <Ends instance={instance} />}
    </>
  );
}

/** Why no further review is granted, and what else there is to do. */
function AtLimit({ instance: { id, reviews, max_reviews, failed_reviews, suggestions } }: { instance: Instance }) {
  return (
    <Notice tone="bad">
      <p className="font-medium">
        Review limit reached: {id} has had {reviews} of {max_reviews} reviews, {failed_reviews} failed. No further review is started.
      </p>
      <ul className="mt-1 list-disc pl-5">
        {suggestions.map((suggestion) => (
          <li key={suggestion}>{suggestion}</li>
        ))}
      </ul>
    </Notice>
  );
}

function Ends({ instance }: { instance: Instance }) {
  const [how, setHow] = useState<Ending>();
  return (
    <div className="flex gap-2">
      <ActButton onClick={() => setHow('stop')}>Stop agent</ActButton>
      {instance.type !== 'review' && (
        <ActButton look="bad" onClick={() => setHow('abandon')}>
          Abandon
        </ActButton>
      )}
      {how && <EndInstance instance={instance} how={how} onClose={() => setHow(undefined)} />}
    </div>
  );
}
