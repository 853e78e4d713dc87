import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { nowSearch } from './search.ts';

const now = createRoute({ getParentRoute: () => root, path: '/', validateSearch: nowSearch, component: lazyRouteComponent(() => import('./now.tsx'), 'Now') });
const agent = createRoute({ getParentRoute: () => root, path: '/agents/$agent', component: lazyRouteComponent(() => import('./agent.tsx'), 'Agent') });

export const teamRoutes = [now, agent] as const;
