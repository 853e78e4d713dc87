import type { Setting } from '../../api.ts';
import { Said } from '../../parts/said.tsx';
import { Time } from '../../parts/time.tsx';
import { useRead } from '../../queries.ts';

/** Where the value of a setting comes from. */
export function Origin({ setting: { is_default, updated_at, updated_by } }: { setting: Setting }) {
  const developers = useRead('developers.list', {}).data?.items ?? [];
  if (is_default || updated_at === null) return <span className="text-muted">the default</span>;
  const who = developers.find(({ developer_id }) => updated_by === `developer:${developer_id}`)?.name ?? updated_by ?? 'somebody';
  return (
    <span className="text-muted">
      set by <Said text={who} />, <Time at={updated_at} />
    </span>
  );
}
