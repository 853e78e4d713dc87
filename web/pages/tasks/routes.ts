import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { overlapSearch } from '../overlap/search.ts';
import { taskSearch } from './search.ts';

const work = createRoute({ getParentRoute: () => root, path: '/tasks', component: lazyRouteComponent(() => import('./work.tsx'), 'Work') });
const tasks = createRoute({
  getParentRoute: () => work,
  path: '/',
  validateSearch: taskSearch,
  component: lazyRouteComponent(() => import('./tasks.tsx'), 'Tasks'),
});
const overlaps = createRoute({
  getParentRoute: () => work,
  path: '/overlaps',
  validateSearch: overlapSearch,
  component: lazyRouteComponent(() => import('../overlap/overlaps.tsx'), 'Overlaps'),
});
const week = createRoute({ getParentRoute: () => work, path: '/week', component: lazyRouteComponent(() => import('../team/week.tsx'), 'Week') });

export const workRoutes = [work.addChildren([tasks, overlaps, week])] as const;
