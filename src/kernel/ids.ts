import { Refusal } from './reply.ts';

export const isWorkspaceName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);

/** The id is derived from the name, so that all servers of a database agree on it without coordination. */
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

/** For commands that a message names: nothing in the default workspace. */
export const workspaceFlag = (id: string): string => (id === DEFAULT_WORKSPACE_ID ? '' : ` --workspace ${workspaceName(id)}`);
