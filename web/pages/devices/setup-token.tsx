import type { Result } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useAct } from '../../queries.ts';
import { type AgentType, nameOf } from '../identity/agent.ts';
import { NewToken } from '../identity/new-token.tsx';

interface SetupTokenProps {
  agent: AgentType;
  created: Result<'tokens.create'> | undefined;
  onCreated: (created: Result<'tokens.create'> | undefined) => void;
}

/** The value lives as long as this page is open: it stands in what is to be pasted. */
export function SetupToken({ agent, created, onCreated }: SetupTokenProps) {
  const create = useAct('tokens.create');
  if (created) return <NewToken label={created.label} token={created.token} onDone={() => onCreated(undefined)} />;
  return (
    <>
      <p className="text-muted">
        A token of its own, typed for {nameOf(agent)}: it stands in what you copy below, and is not shown again once you leave this page.
      </p>
      {create.error && <Problem what="No token was created." error={create.error} />}
      <ActButton look="primary" className="justify-self-start" pending={create.isPending} onClick={() => create.mutate({ agent }, { onSuccess: onCreated })}>
        Create a token for {nameOf(agent)}
      </ActButton>
    </>
  );
}
