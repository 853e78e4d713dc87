import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { graphSearch, listSearch, timelineSearch, workflowSearch, workflowsSearch } from './search.ts';

const workflows = createRoute({
  getParentRoute: () => root,
  path: '/workflows',
  validateSearch: workflowsSearch,
  component: lazyRouteComponent(() => import('./workflows.tsx'), 'Workflows'),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/$workflow',
  validateSearch: workflowSearch,
  component: lazyRouteComponent(() => import('./workflow.tsx'), 'WorkflowPage'),
});
const graph = createRoute({
  getParentRoute: () => workflow,
  path: '/',
  validateSearch: graphSearch,
  component: lazyRouteComponent(() => import('./graph.tsx'), 'Graph'),
});
const timeline = createRoute({
  getParentRoute: () => workflow,
  path: '/timeline',
  validateSearch: timelineSearch,
  component: lazyRouteComponent(() => import('./timeline.tsx'), 'Timeline'),
});
const list = createRoute({
  getParentRoute: () => workflow,
  path: '/list',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'List'),
});

export const workflowRoutes = [workflows, workflow.addChildren([graph, timeline, list])] as const;
