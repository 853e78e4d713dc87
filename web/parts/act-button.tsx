import type { ComponentProps } from 'react';
import { DISCONNECTED_REASON, useDisconnected } from '../live/connection.ts';
import { useRead } from '../queries.ts';

interface ActButtonProps extends ComponentProps<'button'> {
  look?: 'primary' | 'bad' | 'plain';
  /** What it does is under way. */
  pending?: boolean;
  /** Who may do it; whoever may not sees it, and why not. */
  needs?: 'member' | 'operator';
}

const LOOKS = { primary: 'button-primary', bad: 'button-bad', plain: '' };
const OPERATOR_REASON = 'This needs operator rights, which the first developer of the workspace has.';

/** Does something at the server, and so not from a page that is known to be out of date. */
export function ActButton({ look = 'plain', pending = false, disabled = false, needs = 'member', className = '', ...rest }: ActButtonProps) {
  const disconnected = useDisconnected();
  const isOperator = useRead('identity.me', {}).data?.operator ?? false;
  const reason = disconnected ? DISCONNECTED_REASON : needs === 'operator' && !isOperator ? OPERATOR_REASON : undefined;
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
