import type { AgentOfTeam } from '../../api.ts';
import { State, type Tone } from '../../parts/layout.tsx';

type AgentState = AgentOfTeam['state'];

const LOOKS: Record<AgentState, { tone: Tone; words: string; means: string }> = {
  waiting: { tone: 'you', words: 'waiting on you', means: 'A question, a held call or a review limit of this agent needs your decision.' },
  lost: { tone: 'bad', words: 'lost', means: 'Its lease expired or its process ended, and its work was released.' },
  blocked: { tone: 'wait', words: 'blocked', means: 'Its last call was refused.' },
  working: { tone: 'live', words: 'working', means: 'Last seen in the last 90 seconds.' },
  quiet: { tone: 'quiet', words: 'quiet', means: 'Last seen more than 90 seconds ago.' },
  stale: { tone: 'wait', words: 'stale', means: 'Last seen more than 30 minutes ago.' },
  ended: { tone: 'quiet', words: 'ended', means: 'It ended its session, or its token was revoked.' },
};

export function AgentStateMark({ state }: { state: AgentState }) {
  const { tone, words, means } = LOOKS[state];
  return (
    <span title={means}>
      <State tone={tone}>{words}</State>
    </span>
  );
}

export const stateWords = (state: AgentState): string => LOOKS[state].words;
