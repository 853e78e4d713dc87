import { ok } from '../../../kernel/reply.ts';
import { repositoryName } from '../../../kernel/repo.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { RepositoryRow } from '../../../storage/schema-rows.ts';
import { getRepository, listRepositories, type RepositoryView, registerRepository, repositoriesAtWork } from './contract.ts';
import { ensureRepository, findRepository, pageOfRepositories, repositoriesAtWork as readAtWork } from './store.ts';

const view = ({ workspace_id: _, ...rest }: RepositoryRow): RepositoryView => rest;

export const repositoryTools: Implementation[] = [
  implement(registerRepository, {
    write: async (tx, { path, name }, ctx) => {
      const row = await ensureRepository(tx, ctx, path, name);
      return ok({ id: row.id, path: row.path, name: row.name });
    },
  }),
  implement(listRepositories, {
    read: async ({ limit, offset }, { reader, workspace }) => {
      const { rows, total } = await pageOfRepositories(reader, workspace, limit, offset);
      return ok({ repositories: rows.map(view), total });
    },
  }),
  implement(getRepository, {
    read: async ({ path }, { reader, workspace }) => {
      const row = await findRepository(reader, workspace, path);
      return ok(row ? { ...view(row), repository: view(row) } : { repository: null });
    },
  }),
  implement(repositoriesAtWork, {
    read: async (_input, { reader, workspace }) => {
      const names = new Set((await readAtWork(reader, workspace)).map(repositoryName));
      return ok({ items: [...names].sort((a, b) => a.localeCompare(b)).map((name) => ({ name })) });
    },
  }),
];
