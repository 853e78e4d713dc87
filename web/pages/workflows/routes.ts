import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';

const workflows = createRoute({ getParentRoute: () => root, path: '/workflows', component: lazyRouteComponent(() => import('./workflows.tsx'), 'Workflows') });

export const workflowRoutes = [workflows] as const;
