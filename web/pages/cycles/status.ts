import type { Cycle } from '../../api.ts';
import type { Tone } from '../../parts/tone.tsx';

/** All of them: the compiler sees to it. */
export const STATUS_TONES: Record<Cycle['status'], Tone> = { active: 'live', archived: 'good', cancelled: 'quiet' };

/** The last part of its path: what people call it. */
export const repositoryName = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== '') ?? path;
