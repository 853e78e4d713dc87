import type { Actor, DemoAnswer } from './actor.ts';

/** What every story has: the people's hand on the server, the cast, the repository, and a voice. */
export interface Stage {
  readonly url: string;
  readonly folder: string;
  readonly repository: string;
  /** As the operator, in the workspace of the demo. */
  action(name: string, input?: Record<string, unknown>): Promise<DemoAnswer>;
  actor(name: string): Promise<Actor>;
  /** A step of the demo is done. */
  done(what: string): void;
  /** Aborts when somebody has had enough. */
  readonly signal: AbortSignal;
  /** Lets those who look on follow. */
  beat(): Promise<void>;
  /** Again and again until the demo ends: an agent says that it is alive. */
  every(ms: number, work: () => Promise<unknown>): void;
  /** What has to be ended with the demo. */
  readonly atEnd: (() => void)[];
}

export interface Story {
  /** What is still to come, while it is told. */
  readonly title: string;
  /** How many times it says `done`. */
  readonly steps: number;
  tell(stage: Stage): Promise<void>;
}

export const text = (answer: DemoAnswer, field: string): string => String(answer[field]);
