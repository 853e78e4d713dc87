import { Refusal } from '../../../kernel/errors.ts';
import { withoutCredentials } from '../../../kernel/repo.ts';
import type { GitHubRepository } from '../../../machine/github/github.ts';
import { GitHubFailed } from '../../../machine/github/github-failed.ts';
import type { InstanceRow, Outside } from '../instances/index.ts';

/** Where on GitHub an instance's work goes. */
export interface Place {
  readonly address: string;
  readonly repository: GitHubRepository;
}

/** The repository that `origin` names, to which its branches are pushed; or which part is missing for that. */
export async function requirePlace({ github, disk }: Outside, row: InstanceRow, signal: AbortSignal): Promise<Place> {
  if (!github.hasToken) throw new GitHubFailed('token_missing', 'GITHUB_TOKEN is not set for the server');
  const address = await disk.originOf(row.repository, { signal });
  if (address === null) {
    throw new Refusal('ORIGIN_MISSING', 'The repository has no remote called origin.', 'Add it: git remote add origin, with its address on GitHub.');
  }
  const repository = github.repositoryAt(address);
  if (repository === null) {
    const next = `origin must be a repository of ${github.host}; another GitHub is set by base_url under [github] in config.toml.`;
    throw new Refusal('ORIGIN_NOT_GITHUB', `origin is ${withoutCredentials(address)}, which is not on ${github.host}.`, next, { host: github.host });
  }
  return { address, repository };
}
