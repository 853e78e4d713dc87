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
  description: 'Makes a repository known by its absolute path. One that is known keeps its id, and takes the name that is given.',
  input: z.strictObject({
    path: absolutePath.describe('Absolute path.'),
    name: title.max(200).optional().describe('What people call it. Default: the last part of the path.'),
  }),
  output: z.strictObject({ id: z.string(), path: z.string(), name: z.string() }),
  annotations: { idempotentHint: true },
});

export const listRepositories = contract({
  name: 'repository_list',
  toolset: 'workflow',
  title: 'List repositories',
  description: 'The repositories that are registered, or that a workflow is of, by path.',
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
  description: 'The repository that is registered at a path, or repository: null. workflow_list with repository_path has its workflows.',
  input: z.strictObject({ path: absolutePath }),
  // A tool's result is an object: where there is no repository, only `repository: null` is in it.
  output: z.strictObject({ ...repositoryView.partial().shape, repository: repositoryView.nullable() }),
  annotations: READ,
});

export const repositoriesAtWork = contract({
  ...MEMBER_READ,
  name: 'repositories.list',
  title: 'Repositories',
  description: 'What the repositories are called that there are tasks, workflows, instances or cycles in.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ name: z.string() })) }),
});
