import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { catalogueSearch, changeSearch, grantSearch, matrixSearch, serverSearch } from './search.ts';

const tools = createRoute({ getParentRoute: () => root, path: '/tools', component: lazyRouteComponent(() => import('./tools.tsx'), 'Tools') });
const catalogue = createRoute({
  getParentRoute: () => tools,
  path: '/',
  validateSearch: catalogueSearch,
  component: lazyRouteComponent(() => import('./catalogue.tsx'), 'Catalogue'),
});
const servers = createRoute({
  getParentRoute: () => tools,
  path: '/servers',
  validateSearch: serverSearch,
  component: lazyRouteComponent(() => import('./servers.tsx'), 'Servers'),
});
const grants = createRoute({
  getParentRoute: () => tools,
  path: '/grants',
  validateSearch: grantSearch,
  component: lazyRouteComponent(() => import('./grants.tsx'), 'Grants'),
});
const matrix = createRoute({
  getParentRoute: () => tools,
  path: '/matrix',
  validateSearch: matrixSearch,
  component: lazyRouteComponent(() => import('./matrix.tsx'), 'Matrix'),
});
const changes = createRoute({
  getParentRoute: () => tools,
  path: '/changes',
  validateSearch: changeSearch,
  component: lazyRouteComponent(() => import('./changes.tsx'), 'Changes'),
});

export const toolRoutes = [tools.addChildren([catalogue, servers, grants, matrix, changes])] as const;
