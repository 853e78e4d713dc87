import type { ErrorCodes } from './index.ts';

export const reviewCodes = {
  AGENT_NOT_STARTED: {
    meaning: 'The agent was not started, and nothing changed.',
    cause: "The launcher's program ended at once or could not be run.",
    next: "Run `covenant doctor`, check the launcher in config.toml and the server's log, then start it again.",
  },
  BASE_BRANCH_NOT_FOUND: {
    meaning: 'The branch to compare with does not exist.',
    cause: 'It was deleted, renamed or never pushed.',
    next: 'Restore or push the branch, or start the instance with another base branch.',
  },
  BRANCH_NOT_FOUND: {
    meaning: 'The branch does not exist.',
    cause: 'It was deleted or renamed in the repository.',
    next: 'Create the branch again at the commit to review, then repeat the call.',
  },
  BUSY: {
    meaning: 'Another step of the same object is running.',
    cause: 'A pull request, a delivery or a stop has begun and is not finished.',
    next: 'Repeat the call in a few seconds. `covenant instances show ID` shows the running step.',
  },
  DEFAULT_BRANCH: {
    meaning: 'The work is on the default branch, which cannot be reviewed or merged.',
    cause: 'Commits were made on the default branch instead of on a work branch.',
    next: 'Create a branch from your commits, then call `request_review` again.',
  },
  FEEDBACK_ALREADY_SENT: {
    meaning: 'The review has already sent its feedback.',
    cause: 'A review agent sends one verdict.',
    next: 'Stop: the review is finished.',
  },
  FEEDBACK_UNDER_WAY: {
    meaning: 'The feedback is being delivered.',
    cause: 'An earlier call of the same feedback has not finished.',
    next: 'Send the same `send_feedback` call again to see the result.',
  },
  FILE_NOT_CHANGED: {
    meaning: 'The file is not among the changed files.',
    cause: 'It was reverted or committed differently since the list was made.',
    next: 'Run `covenant instances diff ID` for the present list.',
  },
  GITHUB_FAILED: {
    meaning: 'GitHub answered with an error.',
    cause: 'GitHub has a fault of its own.',
    next: 'Repeat the call in a few minutes.',
  },
  GITHUB_FORBIDDEN: {
    meaning: "The server's GitHub token may not do this.",
    cause: 'GITHUB_TOKEN lacks a permission.',
    next: 'The operator gives the token read and write access to contents, pull requests and issues, then restarts the server.',
  },
  GITHUB_INVALID: {
    meaning: 'GitHub refused the content of the request.',
    cause: 'A field such as the title, a label or the branch is not valid for GitHub.',
    next: 'Correct what the message says and repeat the call.',
  },
  GITHUB_NOT_FOUND: {
    meaning: 'GitHub does not show this repository to the server.',
    cause: 'The repository does not exist, has issues turned off, or the token cannot see it.',
    next: 'The operator checks the remote `origin` and the access of GITHUB_TOKEN.',
  },
  GITHUB_OUTCOME_UNKNOWN: {
    meaning: 'It is not known yet whether GitHub made the pull request.',
    cause: 'The connection broke after the request was sent.',
    next: 'Wait. The server asks GitHub again, and a message tells the agent the result.',
  },
  GITHUB_RATE_LIMITED: {
    meaning: "GitHub limits the server's requests.",
    cause: 'Too many requests were made with this token.',
    next: 'Repeat the call after `retry_at` (epoch ms).',
  },
  GITHUB_TOKEN_MISSING: {
    meaning: 'The server has no GitHub token.',
    cause: 'GITHUB_TOKEN was not set when the server started.',
    next: 'The operator sets GITHUB_TOKEN and restarts the server.',
  },
  GITHUB_UNAUTHORIZED: {
    meaning: "GitHub does not accept the server's token.",
    cause: 'GITHUB_TOKEN is wrong or has expired.',
    next: 'The operator sets a new GITHUB_TOKEN and restarts the server.',
  },
  GITHUB_UNREACHABLE: {
    meaning: 'GitHub cannot be reached.',
    cause: 'The network or GitHub is down.',
    next: 'Repeat the call in a few minutes.',
  },
  GIT_FAILED: {
    meaning: 'A git command failed.',
    cause: 'The message has what git wrote.',
    next: 'Correct what git reports in the repository, then repeat the call.',
  },
  GIT_UNAUTHORIZED: {
    meaning: "The remote does not accept the server's credentials.",
    cause: "The server's GITHUB_TOKEN or ssh key has no access to `origin`.",
    next: 'The operator gives the token or key access to the repository.',
  },
  GIT_UNREACHABLE: {
    meaning: 'The remote of the repository cannot be reached.',
    cause: 'The network is down, or the address of `origin` is wrong.',
    next: 'Repeat the call in a few minutes. If it fails again, check `git remote get-url origin`.',
  },
  INSTANCE_LIMIT: {
    meaning: 'The server runs as many instances as it allows.',
    cause: 'Every slot of `max_running` is taken.',
    next: 'Run `covenant instances stop ID`, or raise `max_running` under `[instances]` in config.toml.',
  },
  INSTANCE_NOT_FOUND: {
    meaning: 'There is no instance with this id.',
    cause: 'The id is wrong, or the instance was cleaned up.',
    next: 'Run `covenant instances list` for the instances.',
  },
  INSTANCE_PRIVATE: {
    meaning: 'The instance belongs to a private developer.',
    cause: 'Only that developer and the operator of the server may see it.',
    next: 'Ask that developer or the operator.',
  },
  INVALID_MESSAGE: {
    meaning: 'The terminal page sent a message that the server does not understand.',
    cause: 'The page is older than the server.',
    next: 'Reload the page of the instance.',
  },
  LAUNCHER_MISSING: {
    meaning: 'The program that starts the agent is not installed.',
    cause: "The command of the launcher is not on the server's PATH.",
    next: "Install the program on the server's machine, or name another launcher with `--agent NAME`.",
  },
  NOTHING_TO_WITHDRAW: {
    meaning: 'The instance has no allowed review left to withdraw.',
    cause: 'The additional review has begun, or none was allowed.',
    next: 'Run `covenant instances show ID`.',
  },
  NOT_AN_INSTANCE: {
    meaning: 'Only an agent that the server started can call this tool.',
    cause: 'The call used another kind of token.',
    next: 'Start an agent with `covenant instances start`. The agent calls the tool with its own token.',
  },
  NO_CHANGES: {
    meaning: 'The branch has no changes against its base.',
    cause: 'Nothing was committed, or the work is already merged.',
    next: 'Commit your work on the branch, then repeat the call.',
  },
  ORIGIN_MISSING: {
    meaning: 'The repository has no remote named origin.',
    cause: 'A pull request needs a remote on GitHub.',
    next: 'Run `git remote add origin URL` in the repository.',
  },
  ORIGIN_NOT_GITHUB: {
    meaning: 'The remote `origin` is not on the configured GitHub host.',
    cause: 'Pull requests are made on GitHub only.',
    next: 'Set the remote to a GitHub address, or merge the branch yourself.',
  },
  ORPHAN_NOT_FOUND: {
    meaning: 'The path is not a worktree left by an instance.',
    cause: 'The path is wrong, or the worktree was already removed.',
    next: 'Run `covenant doctor` for the worktrees that are left.',
  },
  PROGRAM_MISSING: {
    meaning: 'A program that this call needs is not installed.',
    cause: "git, tmux or the agent's program is not on the server's PATH.",
    next: "Install the program that the message names on the server's machine.",
  },
  PUSH_REFUSED: {
    meaning: 'The remote refused the push.',
    cause: 'A rule of the remote, such as a protected branch or a hook, forbids it.',
    next: 'Correct what the message says, then repeat the call.',
  },
  PUSH_REJECTED: {
    meaning: 'The remote branch has commits that the pushed branch lacks.',
    cause: 'Somebody else pushed to the same branch. Covenant never forces a push.',
    next: 'Run `git pull --rebase origin BRANCH`, then repeat the call. A reviewer reports it with `send_feedback`.',
  },
  RELATIONSHIP_NOT_FOUND: {
    meaning: "The caller reviews nobody's work.",
    cause: 'The tool is for review agents that `request_review` started.',
    next: 'Do not call it from a coding or planning agent.',
  },
  REPOSITORY_NOT_ALLOWED: {
    meaning: 'The server may not use repositories in this folder.',
    cause: '`repositories` under `[machine]` in config.toml does not include the folder.',
    next: 'The operator adds the folder to `repositories` and restarts the server.',
  },
  REPOSITORY_UNFIT: {
    meaning: 'The folder cannot be used as a repository.',
    cause: 'It is missing, is not a git repository, has no commit, or has a detached HEAD.',
    next: "Name a git repository with a commit and a checked-out branch on the server's machine.",
  },
  REVIEW_IN_PROGRESS: {
    meaning: 'A review of this work is running.',
    cause: 'The agent asked for a review earlier, and it has not ended.',
    next: 'Wait: the feedback arrives in the worktree and as a message.',
  },
  REVIEW_LIMIT_EXCEEDED: {
    meaning: 'The work has had all the reviews that are allowed.',
    cause: '`max_iterations` limits the reviews of one instance.',
    next: 'Follow the first of `suggestions`: call `create_pull_request`, try another approach, or ask a person. `covenant instances allow ID` permits one more.',
  },
  TERMINAL_FAILED: {
    meaning: 'The terminal did not accept the input.',
    cause: "The agent's process may have ended.",
    next: 'Run `covenant instances show ID`, then reload the page.',
  },
  TMUX_FAILED: {
    meaning: "tmux could not start or reach the agent's terminal.",
    cause: "tmux failed on the server's machine.",
    next: 'Repeat the call. If it fails again, run `covenant doctor`.',
  },
  TOO_MANY_REVIEWS: {
    meaning: 'The instance has had all the additional reviews that a person may allow.',
    cause: 'Additional reviews are limited.',
    next: 'Run `covenant instances abandon ID`, or review the work yourself.',
  },
  TOO_MANY_TERMINALS: {
    meaning: 'The server has as many open terminals as it allows.',
    cause: 'Each page that shows a terminal uses one.',
    next: 'Close a terminal page, then open this one again.',
  },
  WORKTREE_NOT_FOUND: {
    meaning: 'The worktree of the instance no longer exists.',
    cause: 'Its folder was removed by hand.',
    next: 'Restore the folder, or run `covenant instances abandon ID` and start a new instance.',
  },
  WORK_GONE: {
    meaning: 'The worktree and the branch no longer exist.',
    cause: 'Both were removed after the instance ended.',
    next: 'Look for the backup ref that `covenant instances show ID` names.',
  },
  WRONG_AGENT_TYPE: {
    meaning: 'This type of agent may not call the tool.',
    cause: 'Each type (coding, review, planning) has its own tools.',
    next: 'Use the tools in your list. The message names the type that may call this one.',
  },
  WRONG_BRANCH: {
    meaning: 'Another branch is checked out in the worktree.',
    cause: 'The agent switched branches.',
    next: 'Check out the branch that the message names and bring your commits there.',
  },
  WRONG_MACHINE: {
    meaning: 'The instance runs on another machine.',
    cause: 'Several servers share one database, and each controls only its own processes.',
    next: 'Run the command on the machine that the message names.',
  },
} satisfies ErrorCodes;
