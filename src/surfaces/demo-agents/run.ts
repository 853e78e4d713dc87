import { setTimeout as pause } from 'node:timers/promises';
import { makeRepository } from './repository.ts';
import { Actor, type DemoAnswer, type Stage, type Story } from './stage.ts';
import { cycle } from './stories/cycle.ts';
import { gateway, review } from './stories/machine.ts';
import { coordination, overlap, usage } from './stories/team.ts';
import { workflow } from './stories/workflow.ts';

/** The stories of the demo. The stories within one list run one after another, and all lists run at the same time. */
const LINES: readonly (readonly Story[])[] = [[overlap, coordination, cycle], [workflow], [review], [gateway, usage]];
export const STEPS = LINES.flat().reduce((sum, { steps }) => sum + steps, 1);

/** The lifetime of the demo's tokens. It is short, so that the tokens of an interrupted demo soon expire. */
const TOKEN_MINUTES = 15;

export interface Narrator {
  /** Called when a step is done. `next` is the title of a running story. */
  done(what: string, next: string | undefined): void;
}

export interface Demo {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly narrator: Narrator;
  /** The pause between two steps. */
  readonly paceMs: number;
  /** The time that the demo waits after the last step. All agents stay connected during this time. */
  readonly stayMs: number;
  action(name: string, input?: Record<string, unknown>): Promise<DemoAnswer>;
}

/** Runs all stories to their end. */
export async function playDemo(demo: Demo, opened: (signin: string) => void): Promise<void> {
  const { url, narrator, action } = demo;
  // If a story fails, all other stories stop, because no agent may run while the data is removed.
  const stop = new AbortController();
  const signal = AbortSignal.any([demo.signal, stop.signal]);
  const { folder } = (await action('demo.begin')) as { folder: string };
  const atEnd: (() => void)[] = [];
  const under: string[] = LINES.map(([first]) => first?.title ?? '');
  const every: Stage['every'] = (ms, work) => {
    const timer = setInterval(() => void work().catch((error) => stop.abort(error)), ms);
    atEnd.push(() => clearInterval(timer));
  };
  const done = (what: string) => {
    const next = under.find((title) => title !== '');
    narrator.done(what, next);
  };
  const actors: Actor[] = [];
  const join = (name: string) => enter(demo, name, every, actors);
  try {
    const repository = makeRepository(folder);
    // The order matters, because the first developer gets operator rights.
    const [claude, codex] = [await join('claude-code@ana'), await join('codex@mira')];
    const cast = { claude, codex, cursor: await join('cursor@ana'), gemini: await join('gemini@li') };
    const stage: Stage = { url, folder, repository, cast, signal, atEnd, action, every, done, beat: () => pause(demo.paceMs, undefined, { signal }) };
    const { path } = await action('signin.link', { developer: 'ana' });
    done('scratch repository, workspace "demo"');
    opened(`${url}${String(path)}`);
    await playAll(
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
    for (const actor of actors) await actor.leave().catch(() => {});
  }
}

async function playAll(lines: readonly (() => Promise<void>)[], stop: AbortController): Promise<void> {
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

async function enter({ url, action }: Demo, name: string, every: Stage['every'], actors: Actor[]): Promise<Actor> {
  const [agent = '', developer] = name.split('@');
  const { token } = await action('tokens.create', { developer, agent, expires_in_minutes: TOKEN_MINUTES });
  const actor = new Actor(name, url, String(token));
  actors.push(actor);
  const { session_id } = await actor.call('covibe_session start', { agent_name: name, repo: 'shop', branch: 'main', model: CAST[agent]?.model });
  actor.session = String(session_id);
  await actor.call('covibe_session activity', { session_id, text: CAST[agent]?.doing ?? 'Reading src/' });
  every(HEARTBEAT_MS, () => actor.call('covibe_session heartbeat', { session_id }));
  return actor;
}

const HEARTBEAT_MS = 30_000;
const CAST: Record<string, { readonly model: string; readonly doing: string }> = {
  'claude-code': { model: 'claude-sonnet-4-5', doing: 'Rotating session tokens in src/login.ts' },
  codex: { model: 'gpt-5', doing: 'Reading src/login.ts' },
  cursor: { model: 'gpt-5-mini', doing: 'Listing sessions without a recent login' },
  gemini: { model: 'gemini-2.5-pro', doing: 'Writing migration 0007_users' },
};
