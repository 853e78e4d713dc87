import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Command } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { dateOf } from '../../parts/time.tsx';
import { Notice } from '../../parts/tone.tsx';
import { useAct } from '../../queries.ts';

/** Whoever opens it is signed in as that developer: it is made when asked for, and shown here alone. */
export function SigninLink({ developer, onClose }: { developer: string; onClose: () => void }) {
  const make = useAct('signin.link');
  return (
    <Dialog title={`Sign-in link for ${developer}`} wide onClose={onClose}>
      <div className="mt-3 grid gap-3">
        <p>
          Whoever opens the link is signed in as <Said text={developer} />, once, within ten minutes. Send it to nobody else.
        </p>
        {make.error && <Problem what="No link was made." error={make.error} />}
        {make.data ? (
          <Notice tone="good" role="status">
            <p className="mb-2">Good until {dateOf(make.data.expires_at)}:</p>
            <div className="text-text">
              <Command text={`${location.origin}${make.data.path}`} />
            </div>
          </Notice>
        ) : (
          <CliCommand words="open" options={{ developer }} />
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="button" data-first onClick={onClose}>
            {make.data ? 'Done' : 'Cancel'}
          </button>
          {!make.data && (
            <ActButton look="primary" needs="operator" pending={make.isPending} onClick={() => make.mutate({ developer })}>
              Make the link
            </ActButton>
          )}
        </div>
      </div>
    </Dialog>
  );
}
