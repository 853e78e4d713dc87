import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';

const cycles = createRoute({ getParentRoute: () => root, path: '/cycles', component: lazyRouteComponent(() => import('./cycles.tsx'), 'Cycles') });

export const cycleRoutes = [cycles] as const;
