import { type SubmitEvent, useState } from 'react';
import { Filter } from '../../parts/filter.tsx';
import { useRead } from '../../queries.ts';

/** A text filter. It is applied when the person presses Enter or leaves the field. */
export function FilterText({ label, value, onChange }: { label: string; value: string | undefined; onChange: (value: string | undefined) => void }) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? value ?? '';
  const settle = (): void => {
    setTyped(undefined);
    if (shown.trim() !== (value ?? '')) onChange(shown.trim() || undefined);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    settle();
  };
  return (
    <form onSubmit={submit} className="min-w-0 max-sm:w-full">
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        className="field sm:w-56"
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        value={shown}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={settle}
      />
    </form>
  );
}

/** A filter for the server of a tool. Covenant's own tools are one of the choices. */
export function ServerFilter({ chosen, onChoose }: { chosen: string | undefined; onChoose: (server: string | undefined) => void }) {
  const { data } = useRead('tools.usage', {});
  const servers = (data?.items ?? []).map(({ server }) => [server, server] as const);
  return <Filter label="Server" otherwise="All" choices={servers} chosen={chosen} onChoose={onChoose} />;
}
