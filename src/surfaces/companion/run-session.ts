import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../wire/covibe-home.ts';
import { runsFolder, sweepRuns } from './notified.ts';

const pathOf = (env: NodeJS.ProcessEnv, transcript: string): string =>
  join(runsFolder(env), `${createHash('sha256').update(transcript).digest('hex').slice(0, 32)}.session`);

/** The run that writes this transcript is this session of the team's: whoever reads the transcript first, hook or watcher, links its usage to it. */
export function noteSession(env: NodeJS.ProcessEnv, transcript: string, session: string, now: number): void {
  if (sessionNoted(env, transcript) === session) return;
  replaceFile(pathOf(env, transcript), session);
  sweepRuns(env, now);
}

/** Also of a subagent's transcript: these lie in `<run>/subagents`, beside `<run>.jsonl`. */
export const sessionOf = (env: NodeJS.ProcessEnv, transcript: string): string | undefined =>
  sessionNoted(env, transcript) ?? sessionNoted(env, `${dirname(dirname(transcript))}.jsonl`);

function sessionNoted(env: NodeJS.ProcessEnv, transcript: string): string | undefined {
  try {
    return readFileSync(pathOf(env, transcript), 'utf8');
  } catch {
    return undefined;
  }
}
