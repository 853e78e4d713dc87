/** Workspaces are named by small letters, digits and dashes: part of a file's name as they are. */
export function workspaceNameOf(id: string): string {
  const [, name] = /^ws_([a-z0-9][a-z0-9-]{0,39})$/.exec(id) ?? [];
  if (name === undefined) throw new Error(`${JSON.stringify(id)} is no workspace`);
  return name;
}
