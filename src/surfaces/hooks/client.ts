import type { Written } from '../../machine/git/placed.ts';
import type { HookAnswer, HookEvent, HookQuestion } from '../../wire/hook-question.ts';

/** What a client's hook says, without anything that only it should know. */
export interface Reduced extends Omit<HookQuestion, 'edits' | 'repo' | 'branch'> {
  /** What is about to be written: absolute, or from `folder`. */
  readonly files?: readonly Written[];
  /** There may be more, which nobody has read. */
  readonly unread?: boolean;
}

/** What a client reads of a hook's answer: on stdout, or as the body of a reply. */
export type Rendered = Readonly<Record<string, unknown>>;

/** How one client's hooks speak. Pure: the server reads Claude Code's hooks with it, the companion those of all clients. */
export interface HookClient {
  /** The client's own names of the events. */
  readonly events: Readonly<Partial<Record<HookEvent, string>>>;
  /** Events at which the agent is shown an answer's context. At any other it is lost, and nothing in it counts as delivered. */
  readonly hears: readonly HookEvent[];
  /** Takes names, ids and paths, and leaves prompts, answers, commands and contents behind. */
  reduce(event: HookEvent, native: Readonly<Record<string, unknown>>): Reduced;
  render(event: HookEvent, answer: HookAnswer): Rendered;
}

export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
