import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { diffSearch, reviewSearch, terminalSearch } from './search.ts';

const reviews = createRoute({
  getParentRoute: () => root,
  path: '/reviews',
  validateSearch: reviewSearch,
  component: lazyRouteComponent(() => import('./reviews.tsx'), 'Reviews'),
});
const instance = createRoute({
  getParentRoute: () => root,
  path: '/reviews/$instance',
  component: lazyRouteComponent(() => import('./instance.tsx'), 'InstancePage'),
});
const terminal = createRoute({
  getParentRoute: () => instance,
  path: '/',
  validateSearch: terminalSearch,
  component: lazyRouteComponent(() => import('./terminal.tsx'), 'TerminalView'),
});
const diff = createRoute({
  getParentRoute: () => instance,
  path: '/diff',
  validateSearch: diffSearch,
  component: lazyRouteComponent(() => import('./diff.tsx'), 'DiffView'),
});
const feedback = createRoute({
  getParentRoute: () => instance,
  path: '/feedback',
  component: lazyRouteComponent(() => import('./feedback.tsx'), 'FeedbackView'),
});
const history = createRoute({
  getParentRoute: () => instance,
  path: '/history',
  component: lazyRouteComponent(() => import('./history.tsx'), 'HistoryView'),
});

export const reviewRoutes = [reviews, instance.addChildren([terminal, diff, feedback, history])] as const;
