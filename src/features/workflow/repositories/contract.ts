import { z } from 'zod';
import { absolutePath, contract, MEMBER_READ, READ, title } from '../../../kernel/contract.ts';

export const repositoryView = z.strictObject({
  id: z.string(),
  path: z.string(),
  name: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
});
export type RepositoryView = z.output<typeof repositoryView>;

export const registerRepository = contract({
  name: 'repository_register',
  toolset: 'workflow',
  title: 'Register a repository',
  description: 'Registers a repository by its absolute path. A registered repository keeps its id and gets the name.',
  input: z.strictObject({
    path: absolutePath.describe('Absolute path.'),
    name: title.max(200).optional().describe('Display name. Default: the last part of the path.'),
  }),
  output: z.strictObject({ id: z.string(), path: z.string(), name: z.string() }),
  annotations: { idempotentHint: true },
});

export const listRepositories = contract({
  name: 'repository_list',
  toolset: 'workflow',
  title: 'List repositories',
  description: 'Registered repositories and those of workflows, sorted by path.',
  input: z.strictObject({
    limit: z.int().min(1).max(200).default(50),
    offset: z.int().min(0).max(1_000_000).default(0),
  }),
  output: z.strictObject({ repositories: z.array(repositoryView), total: z.int() }),
  annotations: READ,
});

export const getRepository = contract({
  name: 'repository_get',
  toolset: 'workflow',
  title: 'Get a repository',
  description: 'The repository registered at a path, or repository: null. workflow_list with repository_path lists its workflows.',
  input: z.strictObject({ path: absolutePath }),
  // A tool must return an object. If no repository is registered at the path, the object contains only `repository: null`.
  output: z.strictObject({ ...repositoryView.partial().shape, repository: repositoryView.nullable() }),
  annotations: READ,
});

export const repositoriesAtWork = contract({
  ...MEMBER_READ,
  name: 'repositories.list',
  title: 'Repositories',
  description: 'Names of repositories with tasks, workflows, instances or cycles.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ name: z.string() })) }),
});
