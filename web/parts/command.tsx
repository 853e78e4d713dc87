import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../queries.ts';
import { CopyButton } from './copy.tsx';

/** A shell command with a copy button. */
export function Command({ text }: { text: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-surface py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 text-left">
        <Unbroken text={text} />
      </code>
      <CopyButton text={text} name={`Copy ${text}`} />
    </div>
  );
}

/** Makes lines break only between words. Otherwise a browser would also break a line inside `--option`. */
const Unbroken = ({ text }: { text: string }) =>
  text.split(/(\s+)/).map((word, at) =>
    at % 2 === 0 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of a text have no other key
      <span key={at} className="inline-block max-w-full wrap-anywhere">
        {word}
      </span>
    ) : (
      word
    ),
  );

/** Several lines of text to copy. `label` is the name for screen readers. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <figure aria-label={label} className="flex flex-wrap items-start gap-2 rounded-md border border-line bg-surface py-1 pr-1 pl-3">
      <pre className="min-w-0 flex-1 basis-60 py-1.5 font-mono text-label wrap-anywhere whitespace-pre-wrap">
        <Unbroken text={text} />
      </pre>
      <CopyButton text={text} name={`Copy: ${label}`} />
    </figure>
  );
}

interface CliCommandProps {
  words: string;
  options?: Record<string, string | undefined>;
  /** Text that is added as the last argument. */
  text?: string | undefined;
}

/** Shows the equivalent CLI command. It consists of `words`, followed by the `options` that have a value. */
export function CliCommand({ words, options = {}, text }: CliCommandProps) {
  const workspace = useRead('identity.me', {}).data?.workspace.replace(/^ws_/, '');
  const all = { ...options, workspace: workspace === 'default' ? undefined : workspace };
  const given = Object.entries(all).flatMap(([name, value]) => (value ? [` --${name}=${quoted(value)}`] : []));
  const last = text === undefined ? '' : `${text.startsWith('-') ? ' --' : ''} ${quoted(text)}`;
  return <Command text={`covenant ${words}${given.join('')}${last}`} />;
}

/** Quotes the text so that the shell reads it as one word. */
const quoted = (text: string): string => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Shows the equivalent commands, folded at first. */
export function AsCommand({ label = 'Command line', children }: { label?: string; children: ReactNode }) {
  return (
    <details>
      <summary className="cursor-pointer text-muted">{label}</summary>
      <div className="mt-2 grid gap-2">{children}</div>
    </details>
  );
}

/** The command that sets up all agents on a machine. A person runs it in a repository on that machine. */
export function SetupCommand() {
  return <Command text={`npm exec -- covibe-local setup --base-url ${location.origin}`} />;
}

/** Reminds the person to install the companion first. Otherwise npm would download a package of the same name from the public registry. */
export function InstalledFirst() {
  return (
    <p>
      Install the companion on that machine first. See{' '}
      <Link to="/settings/agents" className="link">
        Agent setup
      </Link>
      .
    </p>
  );
}
