import type { ComponentProps } from 'react';
import { DISCONNECTED_REASON, useDisconnected } from '../live/connection.ts';
import { useRead } from '../queries.ts';

export interface ActButtonProps extends ComponentProps<'button'> {
  look?: 'primary' | 'bad' | 'plain';
  /** What it does is under way. */
  pending?: boolean;
  /** Who may do it; whoever may not sees it, and why not. */
  needs?: 'member' | 'operator' | 'machine' | undefined;
}

const LOOKS = { primary: 'button-primary', bad: 'button-bad', plain: '' };
const MACHINE_REASON = 'The operator of the server must allow this: covenant developers allow NAME --run-agents';
const OPERATOR_REASON = 'This needs operator rights, which the first developer of the workspace has.';

/** Does something at the server, and so not from a page that is known to be out of date. */
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
