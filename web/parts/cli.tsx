import type { ReactNode } from 'react';
import { useRead } from '../queries.ts';
import { Command } from './copy.tsx';

interface CliCommandProps {
  words: string;
  options?: Record<string, string | undefined>;
  /** What somebody typed, at the end. */
  text?: string | undefined;
}

/** The same from a shell: `words` as they are, each of `options` that has a value. */
export function CliCommand({ words, options = {}, text }: CliCommandProps) {
  const workspace = useRead('identity.me', {}).data?.workspace.replace(/^ws_/, '');
  const all = { ...options, workspace: workspace === 'default' ? undefined : workspace };
  const given = Object.entries(all).flatMap(([name, value]) => (value ? [` --${name}=${quoted(value)}`] : []));
  const last = text === undefined ? '' : `${text.startsWith('-') ? ' --' : ''} ${quoted(text)}`;
  return <Command text={`covenant ${words}${given.join('')}${last}`} />;
}

/** As one word to a shell, whatever is in it. */
const quoted = (text: string): string => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Commands that do the same from a shell, folded. */
export function AsCommand({ label = 'As a command', children }: { label?: string; children: ReactNode }) {
  return (
    <details>
      <summary className="cursor-pointer text-muted">{label}</summary>
      <div className="mt-2 grid gap-2">{children}</div>
    </details>
  );
}
