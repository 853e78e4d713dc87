import { CliCommand } from '../../parts/cli.tsx';
import { CompanionNote } from '../../parts/companion.tsx';
import { Command } from '../../parts/copy.tsx';
import { Nothing } from '../../parts/section.tsx';

export function NoUsage({ days }: { days: number }) {
  return (
    <div className="panel">
      <Nothing>
        <p>No usage was reported in the last {days} days. Connected agents report what they use:</p>
        <CliCommand words="connect claude-code" />
        <p>The companion does it for them:</p>
        <Command text={`npm exec -- covibe-local watch --base-url ${location.origin}`} />
        <CompanionNote />
      </Nothing>
    </div>
  );
}
