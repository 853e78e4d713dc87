import { createRouter } from '@tanstack/react-router';
import { cycleRoutes } from './pages/cycles/routes.ts';
import { eventRoutes } from './pages/events/routes.ts';
import { messageRoutes } from './pages/messages/routes.ts';
import { reviewRoutes } from './pages/reviews/routes.ts';
import { settingsRoutes } from './pages/settings/routes.ts';
import { workRoutes } from './pages/tasks/routes.ts';
import { teamRoutes } from './pages/team/routes.ts';
import { toolRoutes } from './pages/tools/routes.ts';
import { usageRoutes } from './pages/usage/routes.ts';
import { workflowRoutes } from './pages/workflows/routes.ts';
import { root } from './root.tsx';

export const router = createRouter({
  routeTree: root.addChildren([
    ...teamRoutes,
    ...workRoutes,
    ...workflowRoutes,
    ...reviewRoutes,
    ...cycleRoutes,
    ...messageRoutes,
    ...toolRoutes,
    ...eventRoutes,
    ...usageRoutes,
    ...settingsRoutes,
  ]),
  // The part of a page is fetched when the pointer comes near its link.
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
