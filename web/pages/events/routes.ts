import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { activitySearch } from './search.ts';

const activity = createRoute({ getParentRoute: () => root, path: '/activity', component: lazyRouteComponent(() => import('./activity.tsx'), 'Activity') });
const list = createRoute({
  getParentRoute: () => activity,
  path: '/',
  validateSearch: activitySearch,
  component: lazyRouteComponent(() => import('./events.tsx'), 'Events'),
});
const chain = createRoute({ getParentRoute: () => activity, path: '/chain', component: lazyRouteComponent(() => import('./chain.tsx'), 'Chain') });

export const eventRoutes = [activity.addChildren([list, chain])] as const;
