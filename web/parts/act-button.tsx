import type { ComponentProps } from 'react';
import { DISCONNECTED_REASON, useDisconnected } from '../live/connection.ts';

interface ActButtonProps extends ComponentProps<'button'> {
  look?: 'primary' | 'bad' | 'plain';
  /** What it does is under way. */
  pending?: boolean;
}

const LOOKS = { primary: 'button-primary', bad: 'button-bad', plain: '' };

/** Does something at the server, and so not from a page that is known to be out of date. */
export function ActButton({ look = 'plain', pending = false, disabled = false, className = '', ...rest }: ActButtonProps) {
  const disconnected = useDisconnected();
  return (
    <button
      type="button"
      {...rest}
      className={`button ${LOOKS[look]} ${className}`}
      disabled={disabled || pending || disconnected}
      aria-busy={pending || undefined}
      title={disconnected ? DISCONNECTED_REASON : rest.title}
    />
  );
}
