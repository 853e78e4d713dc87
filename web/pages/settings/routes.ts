import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { root } from '../../root.tsx';
import { authorizeSearch, roleSearch, setupSearch, tokenSearch } from './search.ts';

const settings = createRoute({ getParentRoute: () => root, path: '/settings', component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings') });
const first = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/tokens', replace: true });
  },
});
const tokens = createRoute({
  getParentRoute: () => settings,
  path: '/tokens',
  validateSearch: tokenSearch,
  component: lazyRouteComponent(() => import('../identity/tokens.tsx'), 'Tokens'),
});
const agents = createRoute({
  getParentRoute: () => settings,
  path: '/agents',
  beforeLoad: () => {
    throw redirect({ to: '/settings/agents/$agent', params: { agent: 'claude-code' }, replace: true });
  },
});
const agent = createRoute({
  getParentRoute: () => settings,
  path: '/agents/$agent',
  validateSearch: setupSearch,
  component: lazyRouteComponent(() => import('../devices/agent-setup.tsx'), 'AgentSetup'),
});
const devices = createRoute({
  getParentRoute: () => settings,
  path: '/devices',
  component: lazyRouteComponent(() => import('../devices/devices.tsx'), 'Devices'),
});
const members = createRoute({
  getParentRoute: () => settings,
  path: '/members',
  component: lazyRouteComponent(() => import('../identity/members.tsx'), 'Members'),
});
const roles = createRoute({
  getParentRoute: () => settings,
  path: '/roles',
  validateSearch: roleSearch,
  component: lazyRouteComponent(() => import('./roles.tsx'), 'Roles'),
});
const limits = createRoute({ getParentRoute: () => settings, path: '/limits', component: lazyRouteComponent(() => import('./limits.tsx'), 'Limits') });
const retention = createRoute({
  getParentRoute: () => settings,
  path: '/retention',
  component: lazyRouteComponent(() => import('./retention.tsx'), 'Retention'),
});
const theme = createRoute({ getParentRoute: () => settings, path: '/theme', component: lazyRouteComponent(() => import('./theme.tsx'), 'Theme') });
const authorize = createRoute({
  getParentRoute: () => root,
  path: '/setup/authorize',
  validateSearch: authorizeSearch,
  component: lazyRouteComponent(() => import('../devices/authorize.tsx'), 'Authorize'),
});

export const settingsRoutes = [settings.addChildren([first, tokens, agents, agent, devices, members, roles, limits, retention, theme]), authorize] as const;
