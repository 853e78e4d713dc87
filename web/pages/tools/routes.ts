import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';

const tools = createRoute({ getParentRoute: () => root, path: '/tools', component: lazyRouteComponent(() => import('./tools.tsx'), 'Tools') });

export const toolRoutes = [tools] as const;
