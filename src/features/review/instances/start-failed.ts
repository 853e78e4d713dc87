import { Refusal } from '../../../kernel/errors.ts';
import { messageOf } from '../../../kernel/step.ts';
import { TmuxFailed } from '../../../machine/agent-sessions/tmux.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { RepositoryUnfit } from '../../../machine/git/repository.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import { TakenOver } from './launch.ts';

const NEXT: Record<RepositoryUnfit['why'], string> = {
  missing: "Name a git repository on the server's machine.",
  not_git: "Name a git repository on the server's machine: git init makes one.",
  detached: 'Check out the branch to start from, or name it with base_branch.',
  empty: 'Make the first commit, and start again.',
};

/** What is wrong with the repository that was named. */
export function repositoryRefusal(error: unknown, path: string): unknown {
  if (error instanceof RepositoryUnfit) return new Refusal('REPOSITORY_UNFIT', `${sentence(error)}`, NEXT[error.why], { field: 'repository_path', path });
  if (error instanceof ProgramMissing || error instanceof GitFailed) return startFailed(error);
  return error;
}

/** What whoever wanted it started is told. What was begun has been undone. */
export function startFailed(error: unknown): unknown {
  if (error instanceof Refusal || (error instanceof Error && error.name === 'AbortError')) return error;
  if (error instanceof TakenOver) return new Refusal('BUSY', 'Another server goes on with starting it.', 'covenant instances list shows what became of it.');
  const [code, next] = told(error);
  return new Refusal(code, `No agent was started: ${messageOf(error)}. Nothing was changed.`, next);
}

function told(error: unknown): [code: string, next: string] {
  if (error instanceof GitFailed) return ['GIT_FAILED', 'Put right what git complains of, and try again.'];
  if (error instanceof TmuxFailed) return ['TMUX_FAILED', 'Try again; if it fails again: covenant doctor.'];
  if (error instanceof ProgramMissing) return ['PROGRAM_MISSING', `Install ${error.program} on the server's machine.`];
  return ['AGENT_NOT_STARTED', "Try again; if it fails again, its launcher in config.toml or the server's log may tell why."];
}

const sentence = ({ message }: Error): string => `${message[0]?.toUpperCase()}${message.slice(1)}.`;
