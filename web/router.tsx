import { createRootRoute, createRoute, createRouter, Link, redirect } from '@tanstack/react-router';
import { Activity } from './pages/events/activity.tsx';
import { categoryOf } from './pages/events/category.ts';
import { Settings } from './pages/identity/settings.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/activity', replace: true });
  },
});

const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  validateSearch: (search: Record<string, unknown>) => {
    const category = categoryOf(search.category);
    return category ? { category } : {};
  },
  component: Activity,
});

const settings = createRoute({ getParentRoute: () => root, path: '/settings', component: Settings });

export const router = createRouter({ routeTree: root.addChildren([home, activity, settings]) });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <>
      <title>Not found · Covenant</title>
      <h1>There is no such page</h1>
      <p className="mt-2">
        <Link to="/activity" className="text-live underline">
          Open Activity
        </Link>
      </p>
    </>
  );
}
