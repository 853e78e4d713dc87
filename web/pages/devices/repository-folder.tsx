import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useId, useState } from 'react';
import type { Result } from '../../api.ts';
import { Field } from '../../parts/field.tsx';
import { useRepository } from '../../shell/repository-filter.tsx';
import type { AgentType } from '../identity/agent.ts';

/** A bridge started anywhere else would report another repository, or none. */
export function RepositoryFolder({ agent, setup: { cwd, cwd_known, repositories } }: { agent: AgentType; setup: Result<'setup.agents'> }) {
  const navigate = useNavigate();
  const chosen = useRepository();
  const known = useId();
  const [text, setText] = useState(cwd_known ? cwd : '');
  // Those of the repository that the page is narrowed to come first.
  const ordered = [...repositories].sort((a, b) => Number(b.endsWith(`/${chosen}`)) - Number(a.endsWith(`/${chosen}`)));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void navigate({
      to: '/settings/agents/$agent',
      params: { agent },
      search: text.trim() === '' ? {} : { cwd: text.trim() },
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <form onSubmit={submit} aria-label="Repository">
      <Field label="Folder of your repository" hint="absolute, on the machine of the agent">
        {(id) => (
          <div className="flex flex-wrap gap-2">
            <input
              id={id}
              list={known}
              className="field mono min-w-0 flex-1 basis-60"
              autoComplete="off"
              spellCheck={false}
              maxLength={1_000}
              placeholder={cwd}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
            <datalist id={known}>
              {ordered.map((path) => (
                <option key={path} value={path} />
              ))}
            </datalist>
            <button type="submit" className="button" disabled={text.trim() === (cwd_known ? cwd : '')}>
              Use this folder
            </button>
          </div>
        )}
      </Field>
    </form>
  );
}
