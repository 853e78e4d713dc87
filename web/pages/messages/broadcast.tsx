import { type ReactNode, useState } from 'react';
import type { ActionResult } from '../../api.ts';
import { FormDialog } from '../../parts/actions.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Problem } from '../../parts/layout.tsx';
import { useToast } from '../../parts/toast.tsx';
import { counted, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';

type To = 'agents' | 'team';

const MAX_LENGTH = 2_000;
const MAX_NAMES = 12;
/** The dialog polls, because no event reports that an agent has become active or inactive. */
const POLL_MS = 15_000;

/** The dialog to send a message to all active agents, or to announce something to the team. */
export function Broadcast({ onClose }: { onClose: () => void }) {
  const send = useAct('messages.broadcast');
  const say = useToast();
  const [message, setMessage] = useState('');
  const [chosen, setChosen] = useState<To>();
  const developer = useRead('identity.me', {}).data?.developer;
  const { data, error } = useRead('messages.recipients', {}, { pollMs: POLL_MS });
  const nobody = data?.total === 0;
  const to: To = chosen ?? (nobody ? 'team' : 'agents');
  const done = ({ sent_count }: ActionResult<'messages.broadcast'>): void => {
    say(
      sent_count === null ? 'Announced to the team.' : sent_count === 0 ? 'Not sent: no agent is active any more.' : `Sent to ${counted(sent_count, 'agent')}.`,
    );
    onClose();
  };
  return (
    <FormDialog
      title="Broadcast"
      wide
      submit={to === 'agents' ? `Send to ${counted(data?.total ?? 0, 'agent')}` : 'Announce to the team'}
      ready={message.trim() !== '' && (to === 'team' || data !== undefined)}
      mutation={send}
      failed="The message was not sent."
      onSubmit={() => send.mutate({ message: message.trim(), to }, { onSuccess: done })}
      onClose={onClose}
    >
      <TextArea
        label="Message"
        hint={`up to ${MAX_LENGTH.toLocaleString()} characters`}
        value={message}
        onChange={setMessage}
        max={MAX_LENGTH}
        rows={4}
        first
      />
      <fieldset className="grid gap-2">
        <legend className="mb-1 text-label text-muted">Recipients</legend>
        <Choice to="agents" chosen={to} disabled={nobody} onChoose={setChosen}>
          <span className="font-medium">Active agents{data && `: ${counted(data.total, 'agent')}`}</span>
          <span className="text-muted">Each agent gets a message. Receipts appear in Messages.</span>
          {data && data.total > 0 && <Names names={data.items.map(({ name }) => name)} total={data.total} />}
          {nobody && <span className="text-muted">No active agents.</span>}
        </Choice>
        <Choice to="team" chosen={to} onChoose={setChosen}>
          <span className="font-medium">The whole team</span>
          <span className="text-muted">An announcement that each agent sees the next time it reads the team's state. No receipts.</span>
        </Choice>
      </fieldset>
      {error && <Problem what="The agents could not be loaded." error={error} />}
      <CliCommand words="messages send" options={to === 'team' ? { to, developer: developer ?? undefined } : {}} text={message.trim() || 'TEXT'} />
    </FormDialog>
  );
}

interface ChoiceProps {
  to: To;
  chosen: To;
  disabled?: boolean | undefined;
  onChoose: (to: To) => void;
  children: ReactNode;
}

function Choice({ to, chosen, disabled = false, onChoose, children }: ChoiceProps) {
  return (
    <label className="panel flex items-start gap-2 px-3 py-2 has-checked:border-live">
      <input type="radio" name="to" className="mt-1" checked={chosen === to} disabled={disabled} onChange={() => onChoose(to)} />
      <span className="grid min-w-0 gap-0.5">{children}</span>
    </label>
  );
}

function Names({ names, total }: { names: readonly string[]; total: number }) {
  const shown = names.slice(0, MAX_NAMES);
  return (
    <span>
      <UntrustedText text={shown.join(', ')} />
      {total > shown.length && ` and ${(total - shown.length).toLocaleString()} more`}
    </span>
  );
}
