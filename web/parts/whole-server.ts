/** External servers are looked after by the default workspace; the demo brings one of its own. */
export const looksAfterServers = (workspace: string | undefined): boolean => workspace === 'ws_default' || workspace === 'ws_demo';
