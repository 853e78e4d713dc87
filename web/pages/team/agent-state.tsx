import type { AgentOfTeam } from '../../api.ts';
import { State, type Tone } from '../../parts/layout.tsx';

type AgentState = AgentOfTeam['state'];

const LOOKS: Record<AgentState, { tone: Tone; words: string; means: string }> = {
  waiting: { tone: 'you', words: 'waiting on you', means: 'A question, a held call or a spent review of its waits for a person.' },
  lost: { tone: 'bad', words: 'lost', means: 'What it held was taken from it: its lease ran out, or its process was gone.' },
  blocked: { tone: 'wait', words: 'blocked', means: 'What it called last was refused.' },
  working: { tone: 'live', words: 'working', means: 'Heard of in the last 90 seconds.' },
  quiet: { tone: 'quiet', words: 'quiet', means: 'Not heard of for more than 90 seconds.' },
  stale: { tone: 'wait', words: 'stale', means: 'Not heard of for more than 30 minutes.' },
  ended: { tone: 'quiet', words: 'ended', means: 'It said that it is done, or its token was revoked.' },
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
