import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';

const settings = createRoute({ getParentRoute: () => root, path: '/settings', component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings') });

export const settingsRoutes = [settings] as const;
