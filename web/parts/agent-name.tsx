import { Link } from '@tanstack/react-router';
import { UntrustedText } from './said.tsx';

/** `codex@mira`, which opens its page; without an id there is none: a private developer's agent, or nobody's. */
export function AgentName({ name, id, brief = true }: { name: string; id: string | null; brief?: boolean }) {
  if (id === null) return <UntrustedText text={name} brief={brief} />;
  return (
    <Link to="/agents/$agent" params={{ agent: id }} className="hover:underline">
      <UntrustedText text={name} brief={brief} />
    </Link>
  );
}
