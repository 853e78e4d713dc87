import { type ComponentProps, type ReactNode, type SubmitEvent, useState } from 'react';
import type { ActionInput, ActionName, ActionResult } from '../api.ts';
import { DISCONNECTED_REASON, useDisconnected } from '../live/live-journal.tsx';
import { useAct, useRead } from '../queries.ts';
import { CliCommand } from './command.tsx';
import { closeDone, Dialog, openDialog } from './dialog.tsx';
import { TextArea, TextField } from './field.tsx';
import { Problem } from './layout.tsx';
import { useToast } from './toast.tsx';
import { escapeBidi } from './values.tsx';

interface ActButtonProps extends ComponentProps<'button'> {
  look?: 'primary' | 'bad' | 'plain';
  /** True while the action is in progress. */
  pending?: boolean;
  /** The right that the action needs. For people without this right, the button is disabled and shows why. */
  needs?: 'member' | 'operator' | 'machine' | undefined;
}

const LOOKS = { primary: 'button-primary', bad: 'button-bad', plain: '' };
const MACHINE_REASON = 'Needs the right to run agents. The operator of the server grants it: covenant developers allow NAME --run-agents';
const OPERATOR_REASON = 'Needs operator rights, which the first developer of the workspace has.';

/** A button that changes something on the server. It is disabled while the page is out of date. */
export function ActButton({ look = 'plain', pending = false, disabled = false, needs = 'member', className = '', ...rest }: ActButtonProps) {
  const disconnected = useDisconnected();
  const me = useRead('identity.me', {}).data;
  const lacking = needs !== 'member' && !me?.operator ? OPERATOR_REASON : needs === 'machine' && !me?.run_agents ? MACHINE_REASON : undefined;
  const reason = disconnected ? DISCONNECTED_REASON : lacking;
  return (
    <button
      type="button"
      {...rest}
      className={`button ${LOOKS[look]} ${className}`}
      disabled={disabled || pending || reason !== undefined}
      aria-busy={pending || undefined}
      title={reason ?? rest.title}
    />
  );
}

interface FormDialogProps extends Pick<ActButtonProps, 'look' | 'needs'> {
  title: string;
  wide?: boolean;
  children: ReactNode;
  /** The label of the submit button, which should be a verb. */
  submit: string;
  cancel?: string;
  /** True if the form is complete. */
  ready?: boolean;
  /** If true, the focus starts on Cancel, so that an accidental Enter does nothing. */
  cautious?: boolean;
  mutation: { readonly isPending: boolean; readonly error: Error | null };
  /** Replaces the form when there is a result. */
  outcome?: ReactNode;
  /** The heading of the error message, such as "Nothing was granted." */
  failed: string;
  onSubmit: () => void;
  /** What the Cancel button does, if it does not close the dialog. */
  onCancel?: () => void;
  onClose: () => void;
}

/** A dialog with an explanation, fields and two buttons. If the action fails, it also shows the error. */
export function FormDialog(props: FormDialogProps) {
  const { title, wide, cancel = 'Cancel', look = 'primary', ready = true, mutation, outcome, onClose } = props;
  const onFormSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    props.onSubmit();
  };
  if (outcome) {
    return (
      <Dialog key="outcome" title={title} wide={wide} onClose={onClose}>
        <div className="mt-3 grid gap-3">{outcome}</div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      <form onSubmit={onFormSubmit} className="mt-3 grid gap-3">
        {props.children}
        {mutation.error && <Problem what={props.failed} error={mutation.error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="button" data-first={props.cautious || undefined} onClick={props.onCancel ?? onClose}>
            {cancel}
          </button>
          <ActButton type="submit" data-first look={look} needs={props.needs} pending={mutation.isPending} disabled={!ready}>
            {props.submit}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

/** The properties of a required text field for a reason, with several lines. */
export const REASON = { label: 'Reason', max: 1_000, required: true, rows: 3 } as const;

interface ConfirmSpec<N extends ActionName> {
  title: string;
  /** Describes what the action will do, with numbers if possible. */
  children: ReactNode;
  /** The label of the submit button, which should be a verb. */
  act: string;
  actLook?: ActButtonProps['look'];
  keep?: string;
  /** For destructive actions: the text that the person must type to confirm. */
  typed?: string;
  action: N;
  /** The input of the action. If the input contains the reason, a function that adds it. */
  input: ActionInput<N> | ((reason: string) => ActionInput<N>);
  reason?: { readonly label: string; readonly hint?: string; readonly max: number; readonly required?: boolean; readonly rows?: number };
  /** The heading of the error message, such as "Nothing was released." */
  failed: string;
  /** The equivalent CLI command. The reason is added as an option. */
  command?: string;
  options?: Readonly<Record<string, string>>;
  /** The message that is shown after success. */
  toast?: string | ((result: ActionResult<N>) => string);
  onDone?: ((result: ActionResult<N>) => void) | undefined;
}

interface ConfirmActionProps<N extends ActionName> extends ConfirmSpec<N> {
  /** The button that opens the dialog. */
  button: string;
  look?: ActButtonProps['look'];
  needs?: ActButtonProps['needs'];
  /** The name for screen readers, if several buttons of the page have the same label. */
  name?: string | undefined;
  /** If true, the button is small enough for the row of a table. */
  small?: boolean;
  disabled?: boolean;
  /** A text beside the button that explains why it is disabled. */
  hint?: string | undefined;
}

/** A button that opens a confirmation dialog. Use it for actions that stop somebody's work or cannot be undone. */
export function ConfirmAction<N extends ActionName>(props: ConfirmActionProps<N>) {
  const { button, look = 'bad', needs = 'member', name, small = false, disabled = false, hint, ...spec } = props;
  return (
    <ActButton
      look={look}
      needs={needs}
      disabled={disabled}
      title={hint}
      className={small ? 'min-h-6 px-2' : ''}
      aria-label={name}
      onClick={() => openDialog((close) => <ConfirmDialog {...spec} onClose={close} />)}
    >
      {button}
    </ActButton>
  );
}

export function ConfirmDialog<N extends ActionName>({ onClose, ...spec }: ConfirmSpec<N> & { onClose: () => void }) {
  const { title, children, act, actLook = 'bad', keep = 'Cancel', typed, action, input, reason, failed, command, options, toast, onDone } = spec;
  const mutation = useAct(action);
  const say = useToast();
  const [given, setGiven] = useState('');
  const [text, setText] = useState('');
  const why = text.trim();
  const done = (result: ActionResult<N>): void => {
    if (toast !== undefined) say(typeof toast === 'string' ? toast : toast(result));
    onDone?.(result);
    closeDone(onClose);
  };
  return (
    <FormDialog
      title={title}
      submit={act}
      cancel={keep}
      look={actLook}
      cautious={typed === undefined}
      ready={(typed === undefined || [typed, escapeBidi(typed)].includes(given.trim())) && !(reason?.required && !why)}
      mutation={mutation}
      failed={failed}
      onSubmit={() => mutation.mutate(typeof input === 'function' ? input(why) : input, { onSuccess: done })}
      onClose={onClose}
    >
      {children}
      {reason &&
        (reason.rows ? (
          <TextArea {...reason} first value={text} onChange={setText} />
        ) : (
          <TextField {...reason} first={reason.required ?? false} value={text} onChange={setText} />
        ))}
      {command !== undefined && <CliCommand words={command} options={{ ...options, reason: why || (reason?.required ? 'TEXT' : undefined) }} />}
      {typed !== undefined && <TextField label={`Type ${escapeBidi(typed)} to confirm`} mono first value={given} onChange={setGiven} />}
    </FormDialog>
  );
}
