import { setTimeout as pause } from 'node:timers/promises';
import { Actor, type DemoAnswer } from './actor.ts';
import { makeRepository } from './repository.ts';
import type { Stage, Story } from './stage.ts';
import { coordination } from './stories/coordination.ts';
import { cycle } from './stories/cycle.ts';
import { gateway } from './stories/gateway.ts';
import { overlap } from './stories/overlap.ts';
import { review } from './stories/review.ts';
import { usage } from './stories/usage.ts';
import { workflow } from './stories/workflow.ts';

/** The first of each line waits for nobody; the next begins when it is told. */
const LINES: readonly (readonly Story[])[] = [[overlap, coordination, cycle], [workflow], [review], [gateway, usage]];
export const STEPS = LINES.flat().reduce((sum, { steps }) => sum + steps, 1);

/** A token that somebody finds afterwards opens nothing: should the demo be cut short, it ends by itself. */
const TOKEN_MINUTES = 15;

export interface Voice {
  /** A step is done; `next`: what is being told meanwhile. */
  done(what: string, next: string | undefined): void;
}

export interface Demo {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly voice: Voice;
  /** Between two steps. */
  readonly paceMs: number;
  /** After the last step, with all agents still there. */
  readonly stayMs: number;
  action(name: string, input?: Record<string, unknown>): Promise<DemoAnswer>;
}

/** Tells all stories at once, to the end. */
export async function tellAll(demo: Demo, opened: (signin: string) => void): Promise<void> {
  const { url, voice, action } = demo;
  // One that fails ends all: nothing may still be at work when the stage is cleared.
  const stop = new AbortController();
  const signal = AbortSignal.any([demo.signal, stop.signal]);
  const { folder } = (await action('demo.begin')) as { folder: string };
  const atEnd: (() => void)[] = [];
  const actors = new Map<string, Promise<Actor>>();
  const under: string[] = LINES.map(([first]) => first?.title ?? '');
  const stage: Stage = {
    url,
    folder,
    signal,
    atEnd,
    action,
    repository: makeRepository(folder),
    actor: (name) => {
      const known = actors.get(name) ?? cast(demo, name, stage.every);
      actors.set(name, known);
      return known;
    },
    beat: () => pause(demo.paceMs, undefined, { signal }),
    every(ms, work) {
      const timer = setInterval(() => void work().catch((error) => stop.abort(error)), ms);
      atEnd.push(() => clearInterval(timer));
    },
    done: (what) =>
      voice.done(
        what,
        under.find((title) => title !== ''),
      ),
  };
  try {
    // In this order: the first who joins may decide.
    for (const name of ['claude-code@ana', 'codex@mira', 'cursor@ana', 'gemini@li']) await stage.actor(name);
    const { path } = await action('signin.link', { developer: 'ana' });
    stage.done('scratch repository, workspace "demo"');
    opened(`${url}${String(path)}`);
    await together(
      LINES.map((stories, line) => async () => {
        for (const story of stories) {
          under[line] = story.title;
          await story.tell(stage);
        }
        under[line] = '';
      }),
      stop,
    );
    await pause(demo.stayMs, undefined, { signal });
  } finally {
    for (const end of atEnd) end();
    for (const actor of actors.values()) await actor.then((one) => one.leave()).catch(() => {});
  }
}

async function together(lines: readonly (() => Promise<void>)[], stop: AbortController): Promise<void> {
  const failures: unknown[] = [];
  await Promise.all(
    lines.map((tell) =>
      tell().catch((error) => {
        failures.push(error);
        stop.abort(error);
      }),
    ),
  );
  if (failures.length > 0) throw failures[0];
}

async function cast({ url, action }: Demo, name: string, every: Stage['every']): Promise<Actor> {
  const [agent = '', developer] = name.split('@');
  const { token } = await action('tokens.create', { developer, agent, expires_in_minutes: TOKEN_MINUTES });
  const actor = new Actor(name, url, String(token));
  const { session_id } = await actor.call('covibe_session', { operation: 'start', agent_name: name, repo: 'shop', branch: 'main', model: MODELS[agent] });
  actor.session = String(session_id);
  await actor.call('covibe_session', { operation: 'activity', session_id, text: DOING[agent] ?? 'Reading the code' });
  every(HEARTBEAT_MS, () => actor.call('covibe_session', { operation: 'heartbeat', session_id }));
  return actor;
}

const HEARTBEAT_MS = 30_000;
const MODELS: Record<string, string> = { 'claude-code': 'claude-sonnet-4-5', codex: 'gpt-5', cursor: 'gpt-5-mini', gemini: 'gemini-2.5-pro' };
const DOING: Record<string, string> = {
  'claude-code': 'Rotating session tokens',
  codex: 'Reading src/login.ts',
  cursor: 'Looking for sessions that nobody uses',
  gemini: 'Writing the migration',
};
