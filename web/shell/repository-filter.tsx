import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { escapeBidi } from '../parts/values.tsx';
import { useRead } from '../queries.ts';

const root = getRouteApi('__root__');

/** Returns the selected repository, which is part of the page's address. */
export const useRepository = (): string | undefined => root.useSearch().repo;

/** The menu to select a repository. It is hidden if there is only one. */
export function RepositoryFilter() {
  const chosen = useRepository();
  const navigate = useNavigate();
  const names = useRead('repositories.list', {}).data?.items.map(({ name }) => name) ?? [];
  const all = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  if (all.length < 2 && chosen === undefined) return null;
  return (
    <select
      aria-label="Repository"
      className="field w-auto max-w-40 min-w-0 truncate text-text"
      value={chosen ?? ''}
      onChange={({ target }) => void navigate({ to: '.', search: (search) => ({ ...search, repo: target.value || undefined }), resetScroll: false })}
    >
      <option value="">All repositories</option>
      {all.map((name) => (
        <option key={name} value={name}>
          {escapeBidi(name)}
        </option>
      ))}
    </select>
  );
}
