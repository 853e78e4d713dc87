import { useState } from 'react';
import type { Grant } from '../../api.ts';
import { FormDialog } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Choice, TextField } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct, useRead } from '../../queries.ts';
import { type GrantSubject, isNamed, namedSubject, SubjectFields, subjectFrom, useToolNames } from './grant-fields.tsx';

/** The bounds that a new grant can have, narrowest first. */
const SPANS = [
  { span: 'ask', label: 'Ask each time', meaning: 'Each call waits until a person approves it here or on the command line.', scope: { approve: true } },
  {
    span: 'client',
    label: 'Ask in the client too',
    meaning: 'Like the choice above, but the person who uses the agent’s client can also approve the call.',
    scope: { approve: 'client' },
  },
  { span: 'once', label: 'Once', meaning: 'One call. Then the grant is used up.', scope: { max_uses: 1 } },
  { span: 'hour', label: 'One hour', meaning: 'Any number of calls in the next 60 minutes.', minutes: 60 },
  { span: 'standing', label: 'Standing', meaning: 'Any number of calls until it is revoked.' },
] as const satisfies readonly { span: string; label: string; meaning: string; scope?: Grant['scope']; minutes?: number }[];
type GrantSpan = (typeof SPANS)[number];

/** The equivalent command is shown only if the action has this form, because text from the page's address may be unsafe in a shell. */
const ACTION = /^[a-z]+\.[A-Za-z0-9_.-]{1,190}$/;
const TOOLSETS = ['team', 'workflow', 'review', 'cycle'].map((toolset) => `toolset.${toolset}`);

/** The dialog to grant an action to a subject. The narrowest bounds are selected at first. */
export function GrantDialog({ action: given = '', who, onClose }: { action: string | undefined; who: string | undefined; onClose: () => void }) {
  const me = useRead('identity.me', {}).data;
  const grant = useAct('capabilities.grant');
  const revoke = useAct('capabilities.revoke');
  const say = useToast();
  const [chosen, setChosen] = useState<GrantSubject>();
  const [action, setAction] = useState(given);
  const [span, setSpan] = useState<GrantSpan>(SPANS[0]);
  const names = useToolNames(action);
  const subject = chosen ?? subjectFrom(who) ?? { kind: 'developer', name: me?.developer ?? '' };
  const bounds = { ...('scope' in span && { scope: span.scope }), ...('minutes' in span && { expires_in_minutes: span.minutes }) };
  const takeBack = (grant_id: string, what: string): void => {
    revoke.mutateAsync({ grant_id }).then(
      () => say(`Revoked ${what}.`),
      (error: Error) => say(`${what} was not revoked: ${error.message}`),
    );
  };
  const send = (): void => {
    grant.mutateAsync({ action: action.trim(), ...namedSubject(subject), ...bounds }).then(
      ({ grant_id, action: done, subject_name }) => {
        say(`Granted ${done} to ${subject_name}.`, { label: 'Revoke', act: () => takeBack(grant_id, done) });
        onClose();
      },
      () => {},
    );
  };
  return (
    <FormDialog
      title="Grant capability"
      wide
      submit="Grant"
      needs="operator"
      ready={isNamed(subject) && action.trim() !== ''}
      mutation={grant}
      failed="The capability was not granted."
      onSubmit={send}
      onClose={onClose}
    >
      <SubjectFields subject={subject} onChange={setChosen} first={given !== ''} />
      <TextField
        label="Action"
        hint="tool.call.NAME or toolset.NAME"
        mono
        first={given === ''}
        required
        max={200}
        choices={[...names.map((name) => `tool.call.${name}`), ...TOOLSETS]}
        value={action}
        onChange={setAction}
      />
      <fieldset className="grid gap-1.5">
        <legend className="mb-1 text-label text-muted">Scope, narrowest first</legend>
        {SPANS.map((each) => (
          <Choice key={each.span} group="span" checked={span.span === each.span} label={each.label} meaning={each.meaning} onChoose={() => setSpan(each)} />
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
    </FormDialog>
  );
}
