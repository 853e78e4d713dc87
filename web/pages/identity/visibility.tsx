import type { Developer } from '../../api.ts';
import { DISCONNECTED_REASON, useDisconnected } from '../../live/connection.ts';
import { Problem } from '../../parts/problem.tsx';
import { useAct, useRead } from '../../queries.ts';

const CHOICES: Record<Developer['visibility'], { label: string; meaning: string }> = {
  team: { label: 'Team', meaning: 'Others in this workspace see your name beside your work.' },
  private: { label: 'Private', meaning: 'Others see @private instead of your name. You still see yourself.' },
};

export function Visibility() {
  const me = useRead('identity.me', {}).data;
  const { data, error, refetch } = useRead('developers.list', {});
  const set = useAct('developers.set_visibility');
  const disconnected = useDisconnected();
  const own = data?.items.find(({ developer_id }) => developer_id === me?.developer_id);
  // What was just chosen shows at once, and goes back by itself where the server refuses it.
  const chosen = set.isPending ? set.variables.visibility : own?.visibility;
  return (
    <section className="grid gap-3">
      <h2 id="visibility">Your visibility</h2>
      {error && <Problem what="Your visibility could not be read." error={error} onRetry={() => void refetch()} />}
      {set.error && <Problem what="Your visibility was not changed." error={set.error} />}
      {own && (
        <fieldset aria-labelledby="visibility" className="grid gap-2" disabled={disconnected} title={disconnected ? DISCONNECTED_REASON : undefined}>
          {(Object.keys(CHOICES) as Developer['visibility'][]).map((visibility) => (
            <label key={visibility} className="flex items-start gap-2 pointer-coarse:min-h-11">
              <input type="radio" name="visibility" className="mt-1" checked={chosen === visibility} onChange={() => set.mutate({ visibility })} />
              <span>
                <span className="font-medium">{CHOICES[visibility].label}</span>
                <span className="block text-muted">{CHOICES[visibility].meaning}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </section>
  );
}
