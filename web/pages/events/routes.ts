import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { activitySearch } from './search.ts';

const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  validateSearch: activitySearch,
  component: lazyRouteComponent(() => import('./activity.tsx'), 'Activity'),
});

export const eventRoutes = [activity] as const;
