import { useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useAct, useRead } from '../../queries.ts';

/** For who has lost a machine, or does not know where they are still signed in. */
export function Sessions() {
  const me = useRead('identity.me', {}).data;
  const end = useAct('developers.sign_out');
  const [isAsked, setIsAsked] = useState(false);
  return (
    <section className="grid justify-items-start gap-3">
      <h2>Your sessions</h2>
      <p className="text-muted">A session ends after 7 days without use, and after 30 days at the latest, unless the server is set otherwise.</p>
      <ActButton onClick={() => setIsAsked(true)}>Sign out everywhere</ActButton>
      {isAsked && (
        <Confirm
          title="Sign out everywhere?"
          act="Sign out everywhere"
          pending={end.isPending}
          error={end.error}
          failed="You are still signed in."
          onAct={() => end.mutate({})}
          onClose={() => setIsAsked(false)}
        >
          <p>Every browser that is signed in as you is signed out, this one too. Unused sign-in links of yours stop working. Agents keep their tokens.</p>
          <CliCommand words="developers signout" text={me?.developer ?? undefined} />
        </Confirm>
      )}
    </section>
  );
}
