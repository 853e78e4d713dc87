import { useState } from 'react';
import type { Instance } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';
import { EndInstance, type EndingAction } from './end-instance.tsx';
import { MessageAgent } from './message-agent.tsx';
import { AT_WORK, OPEN } from './status.ts';

/** What a person can do about it. What is over can only be looked at. */
export function InstanceActions({ instance }: { instance: Instance }) {
  const [open, setOpen] = useState<EndingAction | 'message'>();
  const close = (): void => setOpen(undefined);
  const atWork = AT_WORK.includes(instance.status);
  if (!OPEN.includes(instance.status)) return null;
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        {(atWork || instance.running) && (
          <ActButton needs="operator" look="primary" onClick={() => setOpen('message')}>
            Message agent
          </ActButton>
        )}
        {atWork && instance.type === 'coding' && <AllowReview instance={instance} />}
        <ActButton needs="operator" onClick={() => setOpen('stop')}>
          Stop agent
        </ActButton>
        {instance.type !== 'review' && (
          <ActButton needs="operator" look="bad" onClick={() => setOpen('abandon')}>
            Abandon
          </ActButton>
        )}
      </div>
      {instance.at_limit && (
        <div className="max-w-xl">
          <CliCommand words={`instances allow ${instance.id}`} />
        </div>
      )}
      {open === 'message' && <MessageAgent instance={instance} onClose={close} />}
      {(open === 'stop' || open === 'abandon') && <EndInstance instance={instance} how={open} onClose={close} />}
    </div>
  );
}

/** At once: it can be taken back until that review begins. */
function AllowReview({ instance: { id, max_reviews, extra_reviews, reviews } }: { instance: Instance }) {
  const act = useAct('instances.allow_review');
  const say = useToast();
  const withdraw = (): void =>
    act.mutate({ instance_id: id, withdraw: true }, { onSuccess: (after) => say(`${id} may have ${after.max_reviews} reviews again.`) });
  const allow = (): void =>
    act.mutate(
      { instance_id: id },
      { onSuccess: (after) => say(`${id} may have ${after.max_reviews} reviews now.`, { label: 'Take it back', act: withdraw }) },
    );
  return (
    <>
      <ActButton needs="operator" pending={act.isPending} title={`Raises its limit of ${max_reviews} reviews by one`} onClick={allow}>
        Allow one more round
      </ActButton>
      {extra_reviews > 0 && reviews < max_reviews && (
        <ActButton needs="operator" pending={act.isPending} onClick={withdraw}>
          Take one round back
        </ActButton>
      )}
      {act.error && (
        <div className="basis-full">
          <Problem what="Its limit stays as it is." error={act.error} />
        </div>
      )}
    </>
  );
}
