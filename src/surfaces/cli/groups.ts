import type { CommandGroup } from './command.ts';

/** The command groups in the order of the help. This file must not import commands directly, so that each command loads only its own group and starts fast. */
export const GROUPS: readonly CommandGroup[] = [
  { section: 'Start', name: 'up', summary: 'Start the server.', load: async () => [(await import('./commands/up.ts')).upCommand] },
  { section: 'Start', name: 'open', summary: 'Print a sign-in link for the dashboard.', load: async () => [(await import('./commands/open.ts')).openCommand] },
  {
    section: 'Start',
    name: 'connect',
    summary: 'Print the command that connects an agent on this machine.',
    load: async () => [(await import('./commands/connect.ts')).connectCommand],
  },
  {
    section: 'Start',
    name: 'status',
    summary: 'Show what waits on you, agents at work and open workflows.',
    load: async () => [(await import('./commands/status.ts')).statusCommand],
  },
  {
    section: 'Start',
    name: 'doctor',
    summary: 'Check this installation and say how to fix problems.',
    load: async () => [(await import('./commands/doctor/doctor.ts')).doctorCommand],
  },
  {
    section: 'Start',
    name: 'demo',
    summary: 'Watch scripted agents work together for two minutes.',
    load: async () => [(await import('./commands/demo.ts')).demoCommand],
  },

  {
    section: 'Work',
    name: 'workflow',
    summary: 'Plan and control the work of agents.',
    load: async () => (await import('./commands/workflow.ts')).workflowCommands,
  },
  {
    section: 'Work',
    name: 'messages',
    summary: 'Read and answer the messages and questions of agents.',
    load: async () => (await import('./commands/messages.ts')).messageCommands,
  },
  { section: 'Work', name: 'agents', summary: 'See which agents are at work.', load: async () => (await import('./commands/agents.ts')).agentCommands },
  {
    section: 'Work',
    name: 'claims',
    summary: 'See which files and symbols are claimed.',
    load: async () => (await import('./commands/claims.ts')).claimCommands,
  },
  {
    section: 'Work',
    name: 'overlap',
    summary: 'Review overlaps and tune the overlap check.',
    load: async () => (await import('./commands/overlap.ts')).overlapCommands,
  },
  {
    section: 'Work',
    name: 'cycle',
    summary: 'Run features in cycles of roles that take turns.',
    load: async () => (await import('./commands/cycle.ts')).cycleCommands,
  },
  {
    section: 'Work',
    name: 'instances',
    summary: 'Run agents on the server, each in its own worktree.',
    load: async () => (await import('./commands/instances.ts')).instanceCommands,
  },

  { section: 'Tools and access', name: 'tools', summary: 'List and call tools.', load: async () => (await import('./commands/tools.ts')).toolCommands },
  {
    section: 'Tools and access',
    name: 'servers',
    summary: 'Manage external MCP servers.',
    load: async () => (await import('./commands/external-servers.ts')).externalServerCommands,
  },
  {
    section: 'Tools and access',
    name: 'capabilities',
    summary: 'Grant and revoke the right to call tools.',
    load: async () => (await import('./commands/capabilities.ts')).capabilityCommands,
  },
  {
    section: 'Tools and access',
    name: 'approvals',
    summary: 'Approve or reject the calls that wait for a person.',
    load: async () => (await import('./commands/approvals.ts')).approvalCommands,
  },
  {
    section: 'Tools and access',
    name: 'tokens',
    summary: 'Create, rotate and revoke tokens.',
    load: async () => (await import('./commands/tokens.ts')).tokenCommands,
  },
  {
    section: 'Tools and access',
    name: 'devices',
    summary: 'Approve machines that ask for tokens for their agents.',
    load: async () => (await import('./commands/devices.ts')).deviceCommands,
  },
  {
    section: 'Tools and access',
    name: 'developers',
    summary: 'Manage the developers of a workspace.',
    load: async () => (await import('./commands/developers.ts')).developerCommands,
  },
  {
    section: 'Tools and access',
    name: 'companion',
    summary: 'Sign releases of covibe-local.',
    load: async () => (await import('./commands/companion.ts')).companionCommands,
  },

  {
    section: 'Data',
    name: 'audit',
    summary: 'Read, verify, export and prune the journal.',
    load: async () => (await import('./commands/audit.ts')).auditCommands,
  },
  {
    section: 'Data',
    name: 'usage',
    summary: 'Show tokens and cost by agent, day, developer or task.',
    load: async () => [(await import('./commands/usage.ts')).usageCommand],
  },
  { section: 'Data', name: 'prices', summary: 'Set the prices of models.', load: async () => (await import('./commands/usage.ts')).priceCommands },
  {
    section: 'Data',
    name: 'settings',
    summary: 'Read and change the settings of a workspace.',
    load: async () => (await import('./commands/settings.ts')).settingCommands,
  },
  {
    section: 'Data',
    name: 'backup',
    summary: 'Copy the database while the server runs.',
    load: async () => [(await import('./commands/backup.ts')).backupCommand],
  },
  {
    section: 'Data',
    name: 'restore',
    summary: 'Replace the database with a backup.',
    load: async () => [(await import('./commands/restore.ts')).restoreCommand],
  },
  { section: 'Data', name: 'export', summary: 'Write one workspace to a file.', load: async () => [(await import('./commands/export.ts')).exportCommand] },
  {
    section: 'Data',
    name: 'import',
    summary: 'Add an exported workspace to this database.',
    load: async () => [(await import('./commands/import.ts')).importCommand],
  },

  {
    section: 'Help',
    name: 'explain',
    summary: 'Explain an error code.',
    load: async () => [(await import('./commands/explain.ts')).explainCommand],
  },
  {
    section: 'Help',
    name: 'completion',
    summary: 'Print shell completion for bash, zsh or fish.',
    load: async () => [(await import('./completion.ts')).completionCommand('covenant', GROUPS)],
  },
  { name: 'demo-part', summary: 'One part of the demo.', load: async () => [(await import('./commands/demo.ts')).demoPart] },
];

/** Loads every command, for completion, the reference and tests. */
export const commandsOf = async (groups: readonly CommandGroup<never>[]) =>
  await Promise.all(groups.map(async (group) => ({ group, commands: await group.load() })));
