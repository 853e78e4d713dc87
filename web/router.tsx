import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import * as search from './search.ts';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: search.rootSearch,
  // Keep the selected repository when another page is opened.
  search: { middlewares: [retainSearchParams(['repo'])] },
});

function NotFound() {
  return (
    <>
      <title>Not found · Covenant</title>
      <h1>Page not found</h1>
      <p className="mt-2">
        <Link to="/" className="link">
          Open Now
        </Link>
      </p>
    </>
  );
}

/** Defines a page. Its code is loaded only when the page is opened. */
function page<Parent extends AnyRoute, const Path extends string, Search, Name extends string>(
  parent: Parent,
  path: Path,
  validateSearch: (given: Record<string, unknown>) => Search,
  name: Name,
  load: () => Promise<Record<Name, unknown>>,
) {
  return createRoute({
    getParentRoute: () => parent,
    path,
    validateSearch,
    component: lazyRouteComponent(load as () => Promise<Record<Name, RouteComponent>>, name),
  });
}
const NO_SEARCH = () => ({});

const redirectFrom = <Parent extends AnyRoute, const Path extends string>(parent: Parent, path: Path, to: { to: string; params?: object }) =>
  createRoute({
    getParentRoute: () => parent,
    path,
    beforeLoad: () => {
      throw redirect({ ...to, replace: true });
    },
  });

const now = page(root, '/', search.nowSearch, 'Now', () => import('./pages/team/now.tsx'));
const agent = page(root, '/agents/$agent', NO_SEARCH, 'Agent', () => import('./pages/team/agent.tsx'));

const work = page(root, '/tasks', NO_SEARCH, 'Work', () => import('./pages/tasks/work.tsx'));
const tasks = page(work, '/', search.taskSearch, 'Tasks', () => import('./pages/tasks/tasks.tsx'));
const claims = page(work, '/claims', search.claimSearch, 'Claims', () => import('./pages/tasks/claims.tsx'));
const overlaps = page(work, '/overlaps', search.overlapSearch, 'Overlaps', () => import('./pages/overlap/overlaps.tsx'));
const week = page(work, '/week', search.weekSearch, 'Week', () => import('./pages/tasks/week.tsx'));

const workflows = page(root, '/workflows', search.workflowsSearch, 'Workflows', () => import('./pages/workflows/workflows.tsx'));
const workflow = page(root, '/workflows/$workflow', search.workflowSearch, 'WorkflowPage', () => import('./pages/workflows/workflow.tsx'));
const graph = page(workflow, '/', search.graphSearch, 'Graph', () => import('./pages/workflows/graph.tsx'));
const timeline = page(workflow, '/timeline', search.timelineSearch, 'Timeline', () => import('./pages/workflows/timeline.tsx'));
const list = page(workflow, '/list', search.listSearch, 'TaskList', () => import('./pages/workflows/task-list.tsx'));

const reviews = page(root, '/reviews', search.reviewSearch, 'Reviews', () => import('./pages/reviews/reviews.tsx'));
const instance = page(root, '/reviews/$instance', NO_SEARCH, 'InstancePage', () => import('./pages/reviews/instance.tsx'));
const terminal = page(instance, '/', search.terminalSearch, 'TerminalView', () => import('./pages/reviews/terminal.tsx'));
const diff = page(instance, '/diff', search.diffSearch, 'DiffView', () => import('./pages/reviews/diff.tsx'));
const feedback = page(instance, '/feedback', NO_SEARCH, 'FeedbackView', () => import('./pages/reviews/feedback.tsx'));
const history = page(instance, '/history', NO_SEARCH, 'HistoryView', () => import('./pages/reviews/history.tsx'));

const cycles = page(root, '/cycles', NO_SEARCH, 'Cycles', () => import('./pages/cycles/cycles.tsx'));
const cycle = page(root, '/cycles/$cycle', search.cycleSearch, 'CyclePage', () => import('./pages/cycles/cycle.tsx'));

const messages = page(root, '/messages', search.messageSearch, 'Messages', () => import('./pages/messages/messages.tsx'));

const tools = page(root, '/tools', NO_SEARCH, 'Tools', () => import('./pages/tools/tools.tsx'));
const catalogue = page(tools, '/', search.catalogueSearch, 'Catalogue', () => import('./pages/tools/catalogue.tsx'));
const servers = page(tools, '/servers', search.serverSearch, 'Servers', () => import('./pages/tools/servers.tsx'));
const grants = page(tools, '/grants', search.grantSearch, 'Grants', () => import('./pages/tools/grants.tsx'));
const matrix = page(tools, '/matrix', search.matrixSearch, 'Matrix', () => import('./pages/tools/matrix.tsx'));
const changes = page(tools, '/changes', search.changeSearch, 'Changes', () => import('./pages/tools/changes.tsx'));

const activity = page(root, '/activity', NO_SEARCH, 'Activity', () => import('./pages/events/activity.tsx'));
const events = page(activity, '/', search.activitySearch, 'Events', () => import('./pages/events/events.tsx'));
const chain = page(activity, '/chain', NO_SEARCH, 'Chain', () => import('./pages/events/chain.tsx'));

const usage = page(root, '/usage', search.usageSearch, 'Usage', () => import('./pages/usage/usage.tsx'));

const settings = page(root, '/settings', NO_SEARCH, 'Settings', () => import('./pages/settings/settings.tsx'));
const firstSetting = redirectFrom(settings, '/', { to: '/settings/tokens' });
const tokens = page(settings, '/tokens', search.tokenSearch, 'Tokens', () => import('./pages/identity/tokens.tsx'));
const firstAgent = redirectFrom(settings, '/agents', { to: '/settings/agents/$agent', params: { agent: 'claude-code' } });
const agentSetup = page(settings, '/agents/$agent', search.setupSearch, 'AgentSetup', () => import('./pages/devices/agent-setup.tsx'));
const devices = page(settings, '/devices', NO_SEARCH, 'Devices', () => import('./pages/devices/devices.tsx'));
const members = page(settings, '/members', NO_SEARCH, 'Members', () => import('./pages/identity/members.tsx'));
const roles = page(settings, '/roles', search.roleSearch, 'Roles', () => import('./pages/settings/roles.tsx'));
const limits = page(settings, '/limits', NO_SEARCH, 'Limits', () => import('./pages/settings/limits.tsx'));
const retention = page(settings, '/retention', NO_SEARCH, 'Retention', () => import('./pages/settings/retention.tsx'));
const theme = page(settings, '/theme', NO_SEARCH, 'Theme', () => import('./pages/settings/theme.tsx'));
const authorize = page(root, '/setup/authorize', search.authorizeSearch, 'Authorize', () => import('./pages/devices/authorize.tsx'));

export const router = createRouter({
  routeTree: root.addChildren([
    now,
    agent,
    work.addChildren([tasks, claims, overlaps, week]),
    workflows,
    workflow.addChildren([graph, timeline, list]),
    reviews,
    instance.addChildren([terminal, diff, feedback, history]),
    cycles,
    cycle,
    messages,
    tools.addChildren([catalogue, servers, grants, matrix, changes]),
    activity.addChildren([events, chain]),
    usage,
    settings.addChildren([firstSetting, tokens, firstAgent, agentSetup, devices, members, roles, limits, retention, theme]),
    authorize,
  ]),
  // Fetch the code of a page when the pointer moves over a link to it.
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
