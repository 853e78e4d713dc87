import type { ForeseenAccess } from '../../api.ts';
import type { Tone } from '../../parts/tone.tsx';

export const ANSWER_TONES: Record<ForeseenAccess['answer'], Tone> = { open: 'good', yes: 'good', asks: 'you', limited: 'wait', no: 'quiet' };
export const ANSWER_MEANINGS: readonly (readonly [ForeseenAccess['answer'], string])[] = [
  ['open', 'needs no grant'],
  ['yes', 'a grant allows it'],
  ['asks', 'a person approves each call'],
  ['limited', 'with certain arguments only'],
  ['no', 'no grant allows it'],
];
