import { ok } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import { getRepository, listRepositories, type RepositoryView, registerRepository } from './contract.ts';
import { ensureRepository } from './register.ts';
import { findRepository, pageOfRepositories } from './store.ts';
import type { RepositoryRow } from './tables.ts';

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
];
