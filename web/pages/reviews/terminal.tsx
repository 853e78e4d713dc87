import { lazy, Suspense, useRef, useState } from 'react';
import type { Instance } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { EmptyState, Notice, State, type Tone } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { useInstance } from './instance.tsx';
import { type TerminalState, useTerminal } from './terminal-link.ts';
import { asText } from './terminal-text.ts';

const TerminalScreen = lazy(() => import('./terminal-screen.tsx'));

/** The page with the live terminal of the instance. */
export function TerminalView() {
  const { data } = useInstance();
  const me = useRead('identity.me', {}).data;
  if (!data || !me) return null;
  const { instance } = data;
  if (!me.operator) {
    return (
      <EmptyState>
        <p>The terminal needs operator rights, which the first developer of the workspace has.</p>
      </EmptyState>
    );
  }
  // The key changes when the program is restarted, because it then has a new terminal.
  return <Live key={`${instance.id} ${instance.running}`} instance={instance} />;
}

const PHASES: Record<TerminalState['phase'], { tone: Tone; word: string }> = {
  connecting: { tone: 'quiet', word: 'connecting' },
  open: { tone: 'live', word: 'live' },
  lost: { tone: 'wait', word: 'reconnecting' },
  ended: { tone: 'quiet', word: 'ended' },
  refused: { tone: 'bad', word: 'refused' },
};

function Live({ instance }: { instance: Instance }) {
  const [{ text = false }, change] = usePageSearch('/reviews/$instance/');
  const [typing, setTyping] = useState(false);
  const { state, send, again } = useTerminal(instance.id, typing);
  const leave = useRef<HTMLButtonElement>(null);
  const { tone, word } = PHASES[state.phase];
  return (
    <section aria-label="Terminal" className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <span role="status">
          <State tone={tone}>{word}</State>
        </span>
        <State tone={state.write ? 'you' : 'quiet'}>{state.write ? 'typing enabled' : 'read-only'}</State>
        <div className="ml-auto flex flex-wrap gap-2">
          {state.phase === 'ended' || state.phase === 'refused' ? (
            <button type="button" className="button" onClick={again}>
              Reconnect
            </button>
          ) : null}
          <button type="button" className="button" aria-pressed={text} onClick={() => void change({ text: text ? undefined : true }, { replace: true })}>
            Show as text
          </button>
          {typing ? (
            <button ref={leave} type="button" className="button" onClick={() => setTyping(false)}>
              Stop typing
            </button>
          ) : (
            <ActButton
              needs="machine"
              disabled={!instance.running || instance.session_kind !== 'tmux'}
              title={instance.session_kind === 'tmux' ? undefined : 'This agent runs without a terminal.'}
              onClick={() => setTyping(true)}
            >
              Enable typing
            </ActButton>
          )}
        </div>
      </div>
      {typing && (
        <p className="text-muted">
          Your input goes directly to the agent, and its terminal is resized to fit this window. The journal records that you opened it. Press Ctrl ] to leave.
        </p>
      )}
      {state.message && <Notice tone={state.phase === 'refused' ? 'bad' : 'quiet'}>{<UntrustedText text={state.message} />}</Notice>}
      {text ? (
        <TextScreen id={instance.id} state={state} onLine={(line) => send({ type: 'input', data: `${line}\r` })} />
      ) : (
        <Suspense fallback={<div className="skeleton h-64" role="status" aria-label="Loading" />}>
          <TerminalScreen
            label={`Screen of ${instance.id}`}
            screen={state.screen}
            write={state.write}
            onInput={(data) => send({ type: 'input', data })}
            onResize={(columns, rows) => send({ type: 'resize', columns, rows })}
            onLeave={() => leave.current?.focus()}
          />
        </Suspense>
      )}
      {instance.running ? <CliCommand words={`instances attach ${instance.id}`} /> : <CliCommand words={`instances logs ${instance.id}`} />}
    </section>
  );
}

/** Shows the screen as text, with a field to send a line of input. */
function TextScreen({ id, state, onLine }: { id: string; state: TerminalState; onLine: (line: string) => void }) {
  const [line, setLine] = useState('');
  const text = state.screen ? asText(state.screen.text) : '';
  return (
    <div className="grid gap-2">
      <div className="flex justify-end">
        <CopyButton text={text} label="Copy text" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll box must be reachable by keyboard */}
      <section tabIndex={0} aria-label={`Screen of ${id} as text`} className="mono max-h-[70dvh] overflow-y-auto rounded-md border border-line bg-surface p-3">
        <UntrustedText text={text || 'Empty screen.'} />
      </section>
      {state.write && (
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            onLine(line);
            setLine('');
          }}
        >
          <input
            className="field mono"
            aria-label="Line to send"
            autoComplete="off"
            spellCheck={false}
            maxLength={4_000}
            value={line}
            onChange={({ target }) => setLine(target.value)}
          />
          <ActButton type="submit" needs="operator">
            Send line
          </ActButton>
        </form>
      )}
    </div>
  );
}
