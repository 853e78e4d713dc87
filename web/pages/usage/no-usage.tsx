import { Command } from '../../parts/copy.tsx';
import { Nothing } from '../../parts/section.tsx';

export function NoUsage({ days }: { days: number }) {
  return (
    <div className="panel">
      <Nothing>
        <p>No usage was reported in the last {days} days. Connected agents report what they use; the companion does it for them:</p>
        <div className="grid w-full gap-2 text-left">
          <Command text={`npm exec -- covibe-local watch --base-url ${location.origin}`} />
          <Command text="covenant connect claude-code" />
        </div>
      </Nothing>
    </div>
  );
}
