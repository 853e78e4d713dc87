import { useState } from 'react';
import type { ExternalServer } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useAct } from '../../queries.ts';

/** Where it is up, calls may be under way: then it is asked about first. */
export function RestartServer({ server: { name, state, tools } }: { server: ExternalServer }) {
  const restart = useAct('servers.restart');
  const say = useToast();
  const [asking, setAsking] = useState(false);
  const act = (): void => {
    restart.mutate(
      { server: name },
      {
        onSuccess: ({ state: now, problem }) => {
          setAsking(false);
          if (problem === null) say(`${name} was restarted and is ${now}.`);
        },
      },
    );
  };
  const problem = restart.data?.problem ?? null;
  return (
    <>
      <ActButton needs="operator" pending={restart.isPending} disabled={state === 'disabled'} onClick={() => (state === 'up' ? setAsking(true) : act())}>
        Restart
      </ActButton>
      {!asking && restart.error && <Problem what={`${name} was not restarted.`} error={restart.error} />}
      {problem !== null && <Notice tone="bad">{problem}</Notice>}
      {asking && (
        <Confirm
          title={`Restart ${name}?`}
          act="Restart"
          pending={restart.isPending}
          error={restart.error}
          failed={`${name} was not restarted.`}
          onAct={act}
          onClose={() => setAsking(false)}
        >
          <p>
            Calls that are under way fail. {tools === 1 ? 'Its tool is' : `Its ${counted(tools, 'tool')} are`} not there until it is up again. secrets.toml is
            read anew.
          </p>
          <CliCommand words={`servers restart ${name}`} />
        </Confirm>
      )}
    </>
  );
}
