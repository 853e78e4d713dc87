import { Link } from '@tanstack/react-router';
import { Said } from '../../parts/said.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { type AgentType, nameOf } from '../identity/agent.ts';

/** That a token was shown for the first time is no event. */
const EVERY_MS = 2_000;
const LATEST = 200;

/** Whether the agent has called: with the token that was just made, or else with any of its kind. */
export function FirstCall({ agent, tokenId }: { agent: AgentType; tokenId: string | undefined }) {
  const input = tokenId === undefined ? { own: true, status: 'live' as const, limit: LATEST } : { token_id: tokenId };
  const tokens = useRead('tokens.list', input, { everyMs: EVERY_MS }).data?.items ?? [];
  const own = tokens.filter((token) => token.agent === agent);
  const last = own.reduce<(typeof own)[number] | undefined>((best, token) => ((token.last_used_at ?? 0) > (best?.last_used_at ?? 0) ? token : best), undefined);
  const name = nameOf(agent);
  if (last?.last_used_at) {
    return (
      <Notice tone="good" role="status">
        {tokenId === undefined ? 'It has called' : 'First call received'}: <Said text={last.label} />, <Time at={last.last_used_at} />.{' '}
        <Link to="/activity" className="underline underline-offset-2">
          See what it does
        </Link>
      </Notice>
    );
  }
  return (
    <Notice tone={tokenId === undefined ? 'quiet' : 'wait'} role="status">
      {tokenId === undefined && own.length === 0
        ? `${name} has no token of yours yet.`
        : `Waiting for the first call. Start ${name} anew, so that it reads its settings, and ask it for the state of the team.`}
    </Notice>
  );
}
