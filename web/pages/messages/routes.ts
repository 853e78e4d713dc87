import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';

const messages = createRoute({ getParentRoute: () => root, path: '/messages', component: lazyRouteComponent(() => import('./messages.tsx'), 'Messages') });

export const messageRoutes = [messages] as const;
