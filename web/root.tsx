import { createRootRoute, Link, retainSearchParams } from '@tanstack/react-router';
import { Shell } from './shell/shell.tsx';

export const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  // The repository that lists are narrowed to stays from page to page.
  validateSearch: ({ repo }: Record<string, unknown>): { repo?: string } => (typeof repo === 'string' && repo !== '' ? { repo } : {}),
  search: { middlewares: [retainSearchParams(['repo'])] },
});

function NotFound() {
  return (
    <>
      <title>Not found · Covenant</title>
      <h1>There is no such page</h1>
      <p className="mt-2">
        <Link to="/" className="link">
          Open Now
        </Link>
      </p>
    </>
  );
}
