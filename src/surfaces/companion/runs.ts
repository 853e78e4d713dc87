import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { covibeHome, replaceFile } from '../../wire/covibe-home.ts';
import { orNothing } from '../../wire/or-nothing.ts';
import { hashOf } from './hash.ts';

/** State that is kept between the hooks of a run: whether the person was notified of a fault, and the session of the run. */

/** How long this state is kept. If a run lasts longer, the person is notified again. */
const KEPT_MS = 2 * 24 * 60 * 60_000;

const runsFolder = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'runs');

/** Returns whether to notify the person of this run now. Each run notifies its person only once, even if several things fail. */
export function shouldNotify(env: NodeJS.ProcessEnv, run: string, now: number): boolean {
  const folder = runsFolder(env);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweepRuns(env, now);
    writeFileSync(join(folder, hashOf(run)), '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    // If nothing can be stored, notify again: two notices are better than none.
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
}

function sweepRuns(env: NodeJS.ProcessEnv, now: number): void {
  const folder = runsFolder(env);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another hook may delete the file at the same moment.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && now - found.mtimeMs > KEPT_MS) rmSync(path, { force: true });
  }
}

const sessionPath = (env: NodeJS.ProcessEnv, transcript: string): string => join(runsFolder(env), `${hashOf(transcript)}.session`);

/** Links the run that writes this transcript to a session. The hook and the watcher both use this link when they report the usage in the transcript. */
export function noteSession(env: NodeJS.ProcessEnv, transcript: string, session: string, now: number): void {
  if (notedSession(env, transcript) === session) return;
  replaceFile(sessionPath(env, transcript), session);
  sweepRuns(env, now);
}

/**
 * Returns the session of a transcript. A subagent belongs to the session of its
 * run. Its transcript is in the folder `<run>/subagents`, next to `<run>.jsonl`.
 */
export const sessionOf = (env: NodeJS.ProcessEnv, transcript: string): string | undefined =>
  notedSession(env, transcript) ?? notedSession(env, `${dirname(dirname(transcript))}.jsonl`);

const notedSession = (env: NodeJS.ProcessEnv, transcript: string): string | undefined => orNothing(() => readFileSync(sessionPath(env, transcript), 'utf8'));
