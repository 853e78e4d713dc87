import { useNavigate } from '@tanstack/react-router';
import { ActButton } from '../../parts/act-button.tsx';

/** Opens the dialog that grants it; whoever may not grant sees why not. */
export function GrantLink({ action, who }: { action?: string; who?: string }) {
  const navigate = useNavigate();
  return (
    <ActButton
      needs="operator"
      onClick={() => void navigate({ to: '/tools/grants', search: { grant: 'new', ...(action && { action }), ...(who && { who }) } })}
    >
      Grant…
    </ActButton>
  );
}
