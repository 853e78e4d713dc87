import { Filter } from '../../parts/filter.tsx';
import { useRead } from '../../queries.ts';

/** Every server that has a tool, the product itself too. */
export function ServerFilter({ chosen, onChoose }: { chosen: string | undefined; onChoose: (server: string | undefined) => void }) {
  const { data } = useRead('tools.usage', {});
  const servers = (data?.items ?? []).map(({ server }) => [server, server] as const);
  return <Filter label="Server" otherwise="All" choices={servers} chosen={chosen} onChoose={onChoose} />;
}
