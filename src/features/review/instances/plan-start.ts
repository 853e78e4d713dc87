import { basename, dirname } from 'node:path';
import type { CallContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, notFound, Refusal } from '../../../kernel/reply.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { reachRepository } from '../../../machine/git/reach-repository.ts';
import type { LocatedRepository } from '../../../machine/git/repository.ts';
import { RepositoryUnfit } from '../../../machine/git/repository.ts';
import { hasProgram } from '../../../machine/process/find-program.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import type { instancesStart } from './contract.ts';
import { foldersIn } from './place.ts';
import type { InstanceOutside } from './ports.ts';
import { codingPrompt, planningPrompt } from './prompts.ts';
import type { InstanceRequest } from './reserve.ts';
import { startFailed } from './start.ts';

/** Checks everything that can be wrong with a start before anything is created. */
export async function planStart(outside: InstanceOutside, ctx: CallContext, input: Input<typeof instancesStart>): Promise<Omit<InstanceRequest, 'developer'>> {
  const { type, issue = null, prompt, agent } = input;
  if (issue === null && prompt === undefined)
    throw invalidInput([{ field: 'prompt', message: 'required without `issue`: the agent needs an issue, a prompt, or both' }]);
  requireLauncher(outside, agent, ctx.workspace);
  if (outside.url() === undefined) {
    throw new Refusal('NOT_SERVING', 'No Covenant server is running for the agent to call.', 'Run `covenant up`, then repeat the call.');
  }
  const path = input.repository_path ?? ctx.repository;
  if (!path) throw invalidInput([{ field: 'repository_path', message: 'required, because your client does not report its working directory' }]);
  try {
    const located = await reachRepository(outside, path, ctx.signal);
    const { branch, commit } = await startingPoint(outside, located, input.base_branch, ctx.signal);
    const repository = mainCheckout(located);
    return {
      type,
      agent,
      repository,
      folders: await foldersIn(outside, repository, ctx.signal),
      baseBranch: branch,
      baseCommit: commit,
      issue,
      prompt: (id, own) => (type === 'planning' ? planningPrompt : codingPrompt)({ id, branch: own, baseBranch: branch, issue, prompt }),
    };
  } catch (error) {
    throw repositoryRefusal(error, path);
  }
}

/**
 * Returns the main checkout of a repository. New worktrees are always created next to it, because otherwise worktrees of worktrees would be scattered
 * over the disk.
 */
const mainCheckout = ({ root, commonDir }: LocatedRepository): string => (basename(commonDir) === '.git' ? dirname(commonDir) : root);

async function startingPoint(
  { disk }: InstanceOutside,
  { root }: LocatedRepository,
  base: string | undefined,
  signal: AbortSignal,
): Promise<{ branch: string; commit: string }> {
  if (base === undefined) return await disk.startingPoint(root, { signal });
  // Only a branch is accepted, because nothing can be merged into a commit such as `main~3`.
  const isName = await disk.requireBranchName(root, base, { signal }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed) return false;
      throw error;
    },
  );
  const commit = isName ? await disk.resolveCommit(root, `refs/heads/${base}`, { signal }) : null;
  if (commit !== null) return { branch: base, commit };
  const next =
    'Repeat the call with `base_branch` (on the command line: `--base`) set to a branch that `git branch` lists. For a branch of origin, first run `git fetch origin BRANCH:BRANCH`.';
  throw notFound('BRANCH_NOT_FOUND', `The branch ${JSON.stringify(base)} does not exist in ${root}.`, next, 'base_branch');
}

function requireLauncher({ launchers: all, environment }: InstanceOutside, name: string, workspace: string): void {
  const launchers = Object.fromEntries(Object.entries(all).filter(([, { workspace: only = workspace }]) => only === workspace));
  const launcher = Object.hasOwn(launchers, name) ? launchers[name] : undefined;
  if (!launcher) {
    const there = `available: ${Object.keys(launchers).join(', ')} (the server reads config.toml only at its start)`;
    throw invalidInput([{ field: 'agent', message: `unknown launcher ${JSON.stringify(name)}; ${there}` }]);
  }
  if (hasProgram(launcher.command, environment(launcher.pass_env, launcher.env))) return;
  const next = `Install it on the server's PATH, or set \`command\` under \`[launchers.${name}]\` in config.toml to its path and restart the server.`;
  throw new Refusal('LAUNCHER_MISSING', `The program ${JSON.stringify(launcher.command)} of the launcher ${name} is not on the server's PATH.`, next, {
    field: 'agent',
    program: launcher.command,
  });
}

const NEXT_OF_UNFIT: Record<RepositoryUnfit['why'], string> = {
  missing: "Repeat the call with `repository_path` set to a git repository on the server's machine.",
  not_git: "Run `git init` there, or set `repository_path` to a git repository on the server's machine.",
  detached: 'Check out the branch to start from, or set `base_branch`.',
  empty: 'Make the first commit, then repeat the call.',
};

/** The refusal for an unusable repository. */
function repositoryRefusal(error: unknown, path: string): unknown {
  if (error instanceof RepositoryUnfit)
    return new Refusal('REPOSITORY_UNFIT', `${sentence(error)}`, NEXT_OF_UNFIT[error.why], { field: 'repository_path', path });
  if (error instanceof ProgramMissing || error instanceof GitFailed) return startFailed(error);
  return error;
}

const sentence = ({ message }: Error): string => `${message[0]?.toUpperCase()}${message.slice(1)}.`;
