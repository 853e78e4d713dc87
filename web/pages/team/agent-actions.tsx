import { useState } from 'react';
import type { ShownAgent } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { State } from '../../parts/tone.tsx';
import { useAct } from '../../queries.ts';

type Token = NonNullable<ShownAgent['tokens']>[number];

/** Gives back what it holds, as if it had left. */
export function ReleaseAgent({ agent }: { agent: ShownAgent['agent'] }) {
  const [asked, setAsked] = useState(false);
  const release = useAct('agents.release');
  const say = useToast();
  const { steps, claims } = agent.holds;
  const { agent_id, name } = agent;
  if (agent_id === null) return null;
  const act = (): void => {
    release.mutateAsync({ agent_id }).then(
      (released) => {
        setAsked(false);
        say(`Released ${counted(released.steps_released, 'step')} and ${counted(released.claims_released, 'claim')} of ${name}.`);
      },
      () => {},
    );
  };
  return (
    <>
      <ActButton
        needs="operator"
        look="bad"
        disabled={steps + claims === 0}
        title={steps + claims === 0 ? 'It holds no step and no claim.' : undefined}
        onClick={() => setAsked(true)}
      >
        Release claims
      </ActButton>
      {asked && (
        <Confirm
          title={`Release what ${name} holds?`}
          act="Release"
          keep="Keep"
          pending={release.isPending}
          error={release.error}
          failed="Nothing was released."
          onAct={act}
          onClose={() => setAsked(false)}
        >
          <p>
            {counted(steps, 'step')} {steps === 1 ? 'becomes' : 'become'} claimable, and {counted(claims, 'claim')} on code {claims === 1 ? 'ends' : 'end'}. If
            it is still at work, it learns so with its next call, and must claim again. Its tasks stay with their developer.
          </p>
          <CliCommand words={`agents release ${agent_id}`} />
        </Confirm>
      )}
    </>
  );
}

/** The tokens that it calls with. */
export function AgentTokens({ tokens, name }: { tokens: ShownAgent['tokens']; name: string }) {
  const [asked, setAsked] = useState<Token>();
  const revoke = useAct('tokens.revoke');
  const say = useToast();
  if (tokens === null || tokens.length === 0) return null;
  const act = (token: Token): void => {
    revoke.mutateAsync({ token_id: token.token_id }).then(
      () => {
        setAsked(undefined);
        say(`Revoked ${token.label}.`);
      },
      () => {},
    );
  };
  return (
    <Section title="Tokens" about={counted(tokens.length, 'token')}>
      <ul className="panel divide-y divide-line">
        {tokens.map((token) => (
          <li key={token.token_id} data-id={token.token_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
            <UntrustedText text={token.label} />
            <Id id={token.token_id} />
            <State tone={token.status === 'live' ? 'good' : 'quiet'}>{token.status}</State>
            <span className="ml-auto text-label text-muted">last used {token.last_used_at === null ? '—' : <Time at={token.last_used_at} />}</span>
            {token.status === 'live' && (
              <ActButton look="bad" aria-label={`Revoke ${escapeBidi(token.label)}`} onClick={() => setAsked(token)}>
                Revoke
              </ActButton>
            )}
          </li>
        ))}
      </ul>
      {asked && (
        <Confirm
          title={`Revoke ${asked.label}?`}
          act="Revoke token"
          typed={asked.token_id}
          pending={revoke.isPending}
          error={revoke.error}
          failed="The token was not revoked."
          onAct={() => act(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            <UntrustedText text={name} /> is refused from its next call with this token on. This cannot be undone.
          </p>
          <CliCommand words={`tokens revoke ${asked.token_id}`} />
        </Confirm>
      )}
    </Section>
  );
}
