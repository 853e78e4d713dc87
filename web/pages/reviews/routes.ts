import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { reviewSearch } from './search.ts';

const reviews = createRoute({
  getParentRoute: () => root,
  path: '/reviews',
  validateSearch: reviewSearch,
  component: lazyRouteComponent(() => import('./reviews.tsx'), 'Reviews'),
});

export const reviewRoutes = [reviews] as const;
