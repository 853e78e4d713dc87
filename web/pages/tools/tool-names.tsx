import { useDeferredValue } from 'react';
import { useRead } from '../../queries.ts';

const MOST = 20;
const TOOLSETS = ['team', 'workflow', 'review', 'cycle'];

/** Names to choose from while one is typed; the server looks for them. `as`: how a grant would name them. */
export function ToolNames({ id, typed, as = 'tool' }: { id: string; typed: string; as?: 'tool' | 'action' }) {
  const wanted = useDeferredValue(typed.replace(/^tool\.call\./, '').trim());
  const { data } = useRead('tools.page', { limit: MOST, ...(wanted && { text: wanted.slice(0, 200) }) });
  const names = data?.items.map(({ name }) => name) ?? [];
  const all = as === 'tool' ? names : [...names.map((name) => `tool.call.${name}`), ...TOOLSETS.map((toolset) => `toolset.${toolset}`)];
  return (
    <datalist id={id}>
      {all.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
