import { createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router';
import { Activity } from './pages/events/activity.tsx';
import { categoryOf } from './pages/events/category.ts';
import { Settings } from './pages/identity/settings.tsx';
import { Overlaps } from './pages/overlap/overlaps.tsx';
import { overlapSearch } from './pages/overlap/search.ts';
import { Reviews } from './pages/reviews/reviews.tsx';
import { reviewSearch } from './pages/reviews/search.ts';
import { taskSearch } from './pages/tasks/search.ts';
import { Tasks } from './pages/tasks/tasks.tsx';
import { Work } from './pages/tasks/work.tsx';
import { Now } from './pages/team/now.tsx';
import { Week } from './pages/team/week.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const now = createRoute({ getParentRoute: () => root, path: '/', component: Now });

const work = createRoute({ getParentRoute: () => root, path: '/tasks', component: Work });
const tasks = createRoute({ getParentRoute: () => work, path: '/', validateSearch: taskSearch, component: Tasks });
const overlaps = createRoute({ getParentRoute: () => work, path: '/overlaps', validateSearch: overlapSearch, component: Overlaps });
const week = createRoute({ getParentRoute: () => work, path: '/week', component: Week });

const reviews = createRoute({ getParentRoute: () => root, path: '/reviews', validateSearch: reviewSearch, component: Reviews });

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

export const router = createRouter({ routeTree: root.addChildren([now, work.addChildren([tasks, overlaps, week]), reviews, activity, settings]) });

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
        <Link to="/" className="link">
          Open Now
        </Link>
      </p>
    </>
  );
}
