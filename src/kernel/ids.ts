import { Refusal } from './reply.ts';

export const isWorkspaceName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);

/** Derives the id of a workspace from its name, so that all servers of a database use the same id without coordination. */
export function workspaceId(name: string): string {
  if (!isWorkspaceName(name)) {
    throw new Refusal(
      'INVALID_INPUT',
      `workspace: ${JSON.stringify(name.slice(0, 60))} is not a workspace name.`,
      'Use at most 40 lower-case letters, digits and dashes; start with a letter or digit.',
      { field: 'workspace' },
    );
  }
  return `ws_${name}`;
}

export const workspaceName = (id: string): string => id.replace(/^ws_/, '');

export const DEFAULT_WORKSPACE_ID = workspaceId('default');

/** The `--workspace` option for a command in a message. It is empty for the default workspace, where commands need no option. */
export const workspaceFlag = (id: string): string => (id === DEFAULT_WORKSPACE_ID ? '' : ` --workspace ${workspaceName(id)}`);
