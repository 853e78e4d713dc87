import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';

const usage = createRoute({ getParentRoute: () => root, path: '/usage', component: lazyRouteComponent(() => import('./usage.tsx'), 'Usage') });

export const usageRoutes = [usage] as const;
