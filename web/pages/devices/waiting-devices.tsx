import { Link } from '@tanstack/react-router';
import { Said } from '../../parts/said.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { namesOf } from '../identity/agent.ts';

/** By time alone a code runs out: no event tells. */
const EVERY_MS = 30_000;

export function WaitingDevices() {
  const waiting = useRead('devices.waiting', {}, { everyMs: EVERY_MS }).data?.items ?? [];
  return waiting.map(({ user_code, machine_name, agents, source, asked_at }) => (
    <Notice key={user_code} tone="you">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="min-w-0 flex-1 basis-64">
          <Said text={machine_name} /> at {source} asks for tokens for {namesOf(agents)}, <Time at={asked_at} />. It shows <code>{user_code}</code>.
        </p>
        <Link to="/setup/authorize" search={{ code: user_code }} className="button text-text">
          Look at it
        </Link>
      </div>
    </Notice>
  ));
}
