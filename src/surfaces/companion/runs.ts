import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { covibeHome, replaceFile } from '../../wire/covibe-home.ts';
import { orNothing } from '../../wire/or-nothing.ts';
import { hashOf } from './hash.ts';

/** What is remembered from one hook of a run to the next: whether its person was told of a fault, and its session. */

/** A run that is still going after this long is told again. */
const KEPT_MS = 2 * 24 * 60 * 60_000;

const runsFolder = (env: NodeJS.ProcessEnv): string => join(covibeHome(env), 'runs');

/** Whether this run's person is to be told now: once for each run, whatever goes wrong in it. */
export function shouldNotify(env: NodeJS.ProcessEnv, run: string, now: number): boolean {
  const folder = runsFolder(env);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweepRuns(env, now);
    writeFileSync(join(folder, hashOf(run)), '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    // Where nothing can be remembered, better twice than never.
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
}

function sweepRuns(env: NodeJS.ProcessEnv, now: number): void {
  const folder = runsFolder(env);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another hook may sweep at the same moment.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && now - found.mtimeMs > KEPT_MS) rmSync(path, { force: true });
  }
}

const sessionPath = (env: NodeJS.ProcessEnv, transcript: string): string => join(runsFolder(env), `${hashOf(transcript)}.session`);

/** The run that writes this transcript is this session of the team's: whoever reads the transcript first, hook or watcher, links its usage to it. */
export function noteSession(env: NodeJS.ProcessEnv, transcript: string, session: string, now: number): void {
  if (notedSession(env, transcript) === session) return;
  replaceFile(sessionPath(env, transcript), session);
  sweepRuns(env, now);
}

/** Also of a subagent's transcript: these lie in `<run>/subagents`, beside `<run>.jsonl`. */
export const sessionOf = (env: NodeJS.ProcessEnv, transcript: string): string | undefined =>
  notedSession(env, transcript) ?? notedSession(env, `${dirname(dirname(transcript))}.jsonl`);

const notedSession = (env: NodeJS.ProcessEnv, transcript: string): string | undefined => orNothing(() => readFileSync(sessionPath(env, transcript), 'utf8'));
