import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { overlapSearch } from '../overlap/search.ts';
import { claimSearch, taskSearch, weekSearch } from './search.ts';

const work = createRoute({ getParentRoute: () => root, path: '/tasks', component: lazyRouteComponent(() => import('./work.tsx'), 'Work') });
const tasks = createRoute({
  getParentRoute: () => work,
  path: '/',
  validateSearch: taskSearch,
  component: lazyRouteComponent(() => import('./tasks.tsx'), 'Tasks'),
});
const claims = createRoute({
  getParentRoute: () => work,
  path: '/claims',
  validateSearch: claimSearch,
  component: lazyRouteComponent(() => import('./claims.tsx'), 'Claims'),
});
const overlaps = createRoute({
  getParentRoute: () => work,
  path: '/overlaps',
  validateSearch: overlapSearch,
  component: lazyRouteComponent(() => import('../overlap/overlaps.tsx'), 'Overlaps'),
});
const week = createRoute({
  getParentRoute: () => work,
  path: '/week',
  validateSearch: weekSearch,
  component: lazyRouteComponent(() => import('./week.tsx'), 'Week'),
});

export const workRoutes = [work.addChildren([tasks, claims, overlaps, week])] as const;
