import type { Toolset } from './contract.ts';

/**
 * Which contract a name belongs to, whether or not the tool exists. Such names are public, so a caller who holds that
 * contract's grant may be told that a tool does not exist; nobody learns which other servers' tools exist.
 */
export function namespaceOf(tool: string): Toolset | undefined {
  if (tool.startsWith('covibe_')) return 'team';
  if (/^(cycle|session|lock|handoff)\./.test(tool)) return 'cycle';
  if (/^(workflow|task|checkpoint|workspace|repository|template|agent|message)_/.test(tool)) return 'workflow';
  return undefined;
}
