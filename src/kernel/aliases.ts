/** A second name of a tool, under which it may be called too. It is also the name of its permission. */
const ALIASES: Readonly<Record<string, string>> = { create_pr: 'create_pull_request' };
export const ALIAS_NAMES: readonly string[] = Object.keys(ALIASES);
const PERMISSIONS = new Map(Object.entries(ALIASES).map(([alias, tool]) => [tool, alias]));

export const toolNamed = (name: string): string => (Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name);

/** What stands behind `tool.call.` in the grant that opens the tool. */
export const permissionOf = (tool: string): string => PERMISSIONS.get(toolNamed(tool)) ?? tool;
