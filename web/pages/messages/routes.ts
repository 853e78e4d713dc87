import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { messageSearch } from './search.ts';

const messages = createRoute({
  getParentRoute: () => root,
  path: '/messages',
  validateSearch: messageSearch,
  component: lazyRouteComponent(() => import('./messages.tsx'), 'Messages'),
});

export const messageRoutes = [messages] as const;
