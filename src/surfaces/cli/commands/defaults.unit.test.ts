import { expect, test } from 'vitest';
import { z } from 'zod';
import { defaultsIn } from '../../../config.ts';
import { APPROVAL_STATUSES as APPROVALS, listApprovals } from '../../../features/core/approvals/contract.ts';
import { rotateToken } from '../../../features/core/identity/contract.ts';
import * as servers from '../../../features/gateway/servers/contract.ts';
import * as instances from '../../../features/review/instances/contract.ts';
import * as usage from '../../../features/team/usage/contract.ts';
import * as messages from '../../../features/workflow/messages/contract.ts';
import * as steering from '../../../features/workflow/steering/contract.ts';
import { WORKFLOW_STATUSES as WORKFLOWS } from '../../../features/workflow/workflows/contract.ts';
import { readSettings } from '../../bridge/settings.ts';
import { BRIDGE_VARIABLES } from '../bridge-help.ts';
import { APPROVAL_STATUSES } from './approvals.ts';
import { LOG_LINES as SERVER_LINES } from './external-servers.ts';
import { INSTANCE_STATUSES, LOG_LINES } from './instances.ts';
import { KINDS, STATES } from './messages.ts';
import { OVERLAP_MINUTES } from './tokens.ts';
import { upCommand } from './up.ts';
import { DAYS } from './usage.ts';
import { PARALLEL, WORKFLOW_STATUSES } from './workflow.ts';

type Field = { readonly default?: unknown; readonly enum?: readonly string[] };

/** Returns the schema of an input field, from the contract of this action. */
function field(contracts: object, action: string, name: string): Field {
  const found = Object.values(contracts).find((each) => (each as { name?: string } | undefined)?.name === action) as { input: z.ZodType } | undefined;
  const schema = z.toJSONSchema((found as { input: z.ZodType }).input, { io: 'input' }) as { properties: Record<string, Field> };
  return schema.properties[name] ?? {};
}

test('the defaults and accepted values in the help are the same as on the server [use.help.command]', () => {
  expect(field({ rotateToken }, 'tokens.rotate', 'overlap_minutes').default).toBe(OVERLAP_MINUTES);
  expect(field(servers, 'servers.logs', 'lines').default).toBe(SERVER_LINES);
  expect(field(instances, 'instances.logs', 'lines').default).toBe(LOG_LINES);
  expect(field(usage, 'usage.list', 'days').default).toBe(DAYS);
  expect(field(steering, 'workflows.create', 'max_parallel_tasks').default).toBe(PARALLEL);
  expect(field({ listApprovals }, 'approvals.list', 'status').default).toBe('waiting');
  expect([...APPROVAL_STATUSES].sort()).toEqual([...APPROVALS].sort());
  expect([...INSTANCE_STATUSES].sort()).toEqual([...instances.INSTANCE_STATUSES].sort());
  expect([...WORKFLOW_STATUSES].sort()).toEqual([...WORKFLOWS].sort());
  expect([field(messages, 'messages.threads', 'kind').enum, field(messages, 'messages.threads', 'state').enum]).toEqual([KINDS, STATES]);
});

test('the defaults in the help of up and covibe-mcp are the ones that the programs use [use.help.command]', () => {
  const { port, host } = defaultsIn('/home');
  expect(upCommand.options?.port?.default).toBe(`${port}, or the port in config.toml`);
  expect(upCommand.options?.host?.default).toBe(`${host}, or the host in config.toml`);
  const { origin, timeoutMs } = readSettings({});
  const stated = (name: string) => BRIDGE_VARIABLES.find((each) => each.name === name)?.default;
  expect([stated('COVIBE_BASE_URL'), stated('COVIBE_TIMEOUT_MS')]).toEqual([origin, String(timeoutMs)]);
});
