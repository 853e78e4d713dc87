import { type SubmitEvent, useState } from 'react';
import type { Instance } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';

const WAYS = {
  terminal: 'It is in its inbox, and typed into its terminal within seconds.',
  next_start: 'It is in its inbox; its agent hears of it when it is started again.',
} as const;

export function MessageAgent({ instance: { id, running, session_kind }, onClose }: { instance: Instance; onClose: () => void }) {
  const send = useAct('instances.message');
  const say = useToast();
  const [message, setMessage] = useState('');
  const words = message.trim();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    send.mutate(
      { instance_id: id, message: words },
      {
        onSuccess: ({ reaches }) => {
          say(`Sent to ${id}. ${WAYS[reaches]}`);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog title={`Message ${id}`} onClose={onClose}>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        <p>
          Its agent finds it in its inbox{' '}
          {running && session_kind === 'tmux' ? 'and sees it typed into its terminal, as one line.' : 'and is started with it when its program has ended.'} The
          journal has that you wrote, not what.
        </p>
        <TextArea label="Message" value={message} onChange={setMessage} most={8_000} rows={4} first required />
        <CliCommand words={`instances message ${id}`} options={{ text: words || 'TEXT' }} />
        {send.error && <Problem what="Nothing was sent." error={send.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <ActButton type="submit" look="primary" needs="machine" pending={send.isPending} disabled={!words}>
            Send
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
