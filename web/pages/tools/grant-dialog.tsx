import { type SubmitEvent, useId, useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct, useRead } from '../../queries.ts';
import { SPANS, type Span } from './scope.ts';
import { isNamed, namedSubject, type Subject, subjectFrom } from './subject.ts';
import { SubjectFields } from './subject-fields.tsx';
import { ToolNames } from './tool-names.tsx';

interface GrantDialogProps {
  action?: string;
  who?: string;
  onClose: () => void;
  onGranted: () => void;
}

/** What is no action is no word for a shell either: an address can bring anything here. */
const ACTION = /^[a-z]+\.[A-Za-z0-9_.-]{1,190}$/;

/** To whom, what, and how far: the narrowest is chosen until somebody chooses otherwise. */
export function GrantDialog({ action: given = '', who, onClose, onGranted }: GrantDialogProps) {
  const me = useRead('identity.me', {}).data;
  const grant = useAct('capabilities.grant');
  const revoke = useAct('capabilities.revoke');
  const say = useToast();
  const names = useId();
  const [chosen, setChosen] = useState<Subject>();
  const [action, setAction] = useState(given);
  const [span, setSpan] = useState<Span>(SPANS[0]);
  const subject = chosen ?? subjectFrom(who) ?? { kind: 'developer', name: me?.developer ?? '' };
  const bounds = { ...('scope' in span && { scope: span.scope }), ...('minutes' in span && { expires_in_minutes: span.minutes }) };
  const takeBack = (grant_id: string, what: string): void => {
    revoke.mutateAsync({ grant_id }).then(
      () => say(`Revoked ${what}.`),
      (error: Error) => say(`${what} was not revoked: ${error.message}`),
    );
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    grant.mutateAsync({ action: action.trim(), ...namedSubject(subject), ...bounds }).then(
      ({ grant_id, action: done, subject_name }) => {
        say(`Granted ${done} to ${subject_name}.`, { label: 'Revoke', act: () => takeBack(grant_id, done) });
        onGranted();
      },
      () => {},
    );
  };
  return (
    <Dialog title="Grant a capability" wide onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-4">
        <SubjectFields subject={subject} onChange={setChosen} first={given !== ''} />
        <Field label="Action" hint="tool.call.<tool>, or a toolset">
          {(id) => (
            <input
              id={id}
              className="field mono"
              list={names}
              data-first={given === '' || undefined}
              required
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              value={action}
              onChange={({ target }) => setAction(target.value)}
            />
          )}
        </Field>
        <ToolNames id={names} typed={action} as="action" />
        <fieldset className="grid gap-1.5">
          <legend className="mb-1 text-label text-muted">How far, narrowest first</legend>
          {SPANS.map((each) => (
            <label key={each.span} className="flex items-start gap-2 pointer-coarse:min-h-11">
              <input type="radio" name="span" className="mt-1" checked={span.span === each.span} onChange={() => setSpan(each)} />
              <span>
                <span className="font-medium">{each.label}</span> <span className="text-muted">{each.meaning}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {ACTION.test(action.trim()) && (
          <CliCommand
            words={`capabilities grant ${action.trim()}`}
            options={{
              ...namedSubject(subject),
              scope: bounds.scope && JSON.stringify(bounds.scope),
              'expires-in-minutes': bounds.expires_in_minutes?.toString(),
            }}
          />
        )}
        {grant.error && <Problem what="Nothing was granted." error={grant.error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <ActButton type="submit" needs="operator" look="primary" pending={grant.isPending} disabled={!isNamed(subject) || action.trim() === ''}>
            Grant
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
