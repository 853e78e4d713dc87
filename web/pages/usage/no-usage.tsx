import { Command } from '../../parts/copy.tsx';
import { EmptyState } from '../../parts/section.tsx';
import { InstalledFirst, SetupCommand } from '../../parts/setup-command.tsx';

export function NoUsage({ days }: { days: number }) {
  return (
    <div className="panel">
      <EmptyState>
        <p>
          No usage was reported in the last {days} days. Where a machine is set up, what its agents use is reported by itself: counters and the name of the
          model, nothing else. To report them while you look:
        </p>
        <Command text={`npm exec -- covibe-local watch --base-url ${location.origin}`} />
        <p>To set a machine up, in a repository on it:</p>
        <SetupCommand />
        <InstalledFirst />
      </EmptyState>
    </div>
  );
}
