/** What people come to do, and the address at which it is begun. */
export const ACTIONS = [
  { label: 'Plan a task', path: '/tasks?plan=true' },
  { label: 'Run the audit', path: '/tasks/overlaps?audit=true' },
  { label: 'Weekly summary', path: '/tasks/week' },
  { label: 'Broadcast to agents', path: '/messages?broadcast=true' },
  { label: 'Create a token', path: '/settings/tokens?create=true' },
  { label: 'Connect an agent', path: '/settings/agents' },
  { label: 'Approve a device', path: '/setup/authorize' },
  { label: 'Grant a capability', path: '/tools/grants?grant=new' },
  { label: 'Ask who may call a tool', path: '/tools' },
  { label: 'Verify the journal', path: '/activity/chain' },
  { label: 'Set prices', path: '/usage?prices=true' },
] as const;
