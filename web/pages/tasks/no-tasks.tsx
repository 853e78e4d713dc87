import { Link } from '@tanstack/react-router';
import { ActButton } from '../../parts/act-button.tsx';
import { Nothing } from '../../parts/section.tsx';
import { InstalledFirst, SetupCommand } from '../../parts/setup-command.tsx';
import type { TaskSearch } from '../../search.ts';
import { statusWord } from './status.ts';

interface NoTasksProps {
  filter: TaskSearch;
  repository: string | undefined;
  onPlan: () => void;
}

export function NoTasks({ filter: { status, mine, owner, workstream, before }, repository, onPlan }: NoTasksProps) {
  if (status || mine || owner || workstream || before || repository) {
    return (
      <Nothing>
        <p>
          No {statusWord(status)}tasks{mine && ' of yours'}
          {owner && ` of ${owner}`}
          {workstream && ' in this workstream'}
          {repository && ` in ${repository}`}
          {before && ' further back'}.
        </p>
        <Link to="/tasks" search={{ repo: undefined }} className="link">
          Show all open tasks
        </Link>
      </Nothing>
    );
  }
  return (
    <Nothing>
      <p>Nothing is planned or under way. Plan something here, or set up the agents that do, in a repository on their machine:</p>
      <ActButton onClick={onPlan}>Plan a task</ActButton>
      <SetupCommand />
      <InstalledFirst />
    </Nothing>
  );
}
