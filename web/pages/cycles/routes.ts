import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { cycleSearch } from './search.ts';

const cycles = createRoute({ getParentRoute: () => root, path: '/cycles', component: lazyRouteComponent(() => import('./cycles.tsx'), 'Cycles') });
const cycle = createRoute({
  getParentRoute: () => root,
  path: '/cycles/$cycle',
  validateSearch: cycleSearch,
  component: lazyRouteComponent(() => import('./cycle.tsx'), 'CyclePage'),
});

export const cycleRoutes = [cycles, cycle] as const;
