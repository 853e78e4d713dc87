import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { usageSearch } from './search.ts';

const usage = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('./usage.tsx'), 'Usage'),
});

export const usageRoutes = [usage] as const;
