import type { ErrorCodes } from './index.ts';

export const reviewCodes = {
  AGENT_NOT_STARTED: {
    meaning: 'The agent was not started, and nothing changed.',
    cause: 'The program of the launcher ended immediately or could not be started.',
    next: "Run `covenant doctor`, and check the launcher in config.toml and the server's log. Then start the instance again.",
  },
  BASE_BRANCH_NOT_FOUND: {
    meaning: 'The branch to compare with does not exist.',
    cause: 'It was deleted, renamed or never pushed.',
    next: 'Restore or push the branch, then repeat the call. `create_pull_request` also accepts another `base_branch`, and `covenant instances start` another `--base`.',
  },
  BRANCH_NOT_FOUND: {
    meaning: 'The branch does not exist.',
    cause: 'The name is wrong, the branch exists only on origin, or it was deleted or renamed in the repository.',
    next: 'For `base_branch` (on the command line: `--base`), repeat the call with a branch that `git branch` lists. For a branch of origin, first run `git fetch origin BRANCH:BRANCH`. If the branch of the work is missing, create it again with `git branch BRANCH COMMIT`, where COMMIT is its last commit.',
  },
  BUSY: {
    meaning: 'Another operation on the same object is still running.',
    cause: 'For example, the server is still creating a pull request, delivering feedback or stopping an agent.',
    next: 'Repeat the call in a few seconds. `covenant instances show ID` shows the running step.',
  },
  DEFAULT_BRANCH: {
    meaning: 'The branch of the instance is the default branch, which cannot be reviewed or merged.',
    cause: 'The repository uses the branch of the instance as its default branch.',
    next: 'Tell your user to start another instance, which gets its own branch: `covenant instances start --type coding --prompt TEXT`.',
  },
  FEEDBACK_ALREADY_SENT: {
    meaning: 'The review has already sent its feedback.',
    cause: 'A review agent can send only one verdict.',
    next: 'Stop: the review is finished.',
  },
  FEEDBACK_UNDER_WAY: {
    meaning: 'The feedback is still being delivered.',
    cause: 'An earlier `send_feedback` call with the same feedback has not finished yet.',
    next: 'Send the same `send_feedback` call again in a few seconds to see the result.',
  },
  FILE_NOT_CHANGED: {
    meaning: 'The instance has not changed this file.',
    cause: 'The file was reverted, or committed with other content, after you listed the changed files.',
    next: 'Run `covenant instances diff ID` for the current list.',
  },
  GITHUB_FAILED: {
    meaning: 'GitHub answered with an error.',
    cause: 'GitHub itself has a problem.',
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
    next: 'Wait. The server asks GitHub again and sends the agent a message with the result.',
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
    cause: 'The message contains the output of git.',
    next: 'Correct what git reports in the message, then repeat the call. If the next step names a folder, run `git -C PATH status` there first.',
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
    meaning: 'The server already runs the maximum number of instances.',
    cause: '`max_running` under `[instances]` in config.toml limits how many instances run at the same time.',
    next: 'Wait until an instance ends, or run `covenant instances stop ID`. The operator can also raise `max_running` and restart the server.',
  },
  INSTANCE_NOT_FOUND: {
    meaning: 'There is no instance with this id.',
    cause: 'The id is wrong, or the instance was cleaned up.',
    next: 'Run `covenant instances list`.',
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
    meaning: 'The instance has no additional review that can be withdrawn.',
    cause: 'The additional review has already begun, or nobody allowed an additional review.',
    next: 'Run `covenant instances show ID`.',
  },
  NOT_AN_INSTANCE: {
    meaning: 'Only an agent that the server started can call this tool.',
    cause: 'The call used another kind of token.',
    next: 'Ask a person to start an agent: `covenant instances start --type coding --prompt TEXT`, or `--type planning` for `create_issues`. `request_review` starts review agents.',
  },
  NO_CHANGES: {
    meaning: 'The branch has no changes compared with its base branch.',
    cause: 'Nothing was committed, or the work is already merged.',
    next: 'Commit your work on the branch, then repeat the call.',
  },
  ORIGIN_MISSING: {
    meaning: 'The repository has no remote named origin.',
    cause: 'A pull request needs a remote on GitHub.',
    next: 'Run `git remote add origin URL` in the repository, then repeat the call.',
  },
  ORIGIN_NOT_GITHUB: {
    meaning: 'The remote `origin` is not on the configured GitHub host.',
    cause: 'Pull requests are made on GitHub only.',
    next: 'Set `origin` to a GitHub address, or merge the branch yourself. For another GitHub host, the operator sets `base_url` under `[github]` in config.toml and restarts the server.',
  },
  ORPHAN_NOT_FOUND: {
    meaning: 'The path is not a worktree left by an instance.',
    cause: 'The path is wrong, or the worktree was already removed.',
    next: 'Run `covenant doctor`: it lists the worktrees that are left.',
  },
  PROGRAM_MISSING: {
    meaning: 'A program that this call needs is not installed.',
    cause: "git, tmux or the agent's program is not on the server's PATH.",
    next: "Install the program that the message names on the server's machine, then repeat the call.",
  },
  PUSH_REFUSED: {
    meaning: 'The remote refused the push.',
    cause: 'A rule of the remote forbids it, such as branch protection or a hook.',
    next: 'Correct what the message says, then repeat the call.',
  },
  PUSH_REJECTED: {
    meaning: 'The remote branch has commits that the pushed branch lacks.',
    cause: 'Somebody else pushed to the same branch. Covenant never forces a push.',
    next: 'For your own branch, run `git pull --rebase origin BRANCH`, then repeat the call. A review agent reports the problem with `send_feedback`.',
  },
  RELATIONSHIP_NOT_FOUND: {
    meaning: 'The caller does not review any work.',
    cause: 'Only a review agent that `request_review` started can make this call.',
    next: 'Tell your user: only a review agent that `request_review` started can send feedback or approve work.',
  },
  REPOSITORY_NOT_ALLOWED: {
    meaning: 'The server may not use repositories in this folder.',
    cause: '`repositories` under `[machine]` in config.toml does not include the folder.',
    next: 'Ask the operator to add the folder to `repositories` under `[machine]` in config.toml and to restart the server.',
  },
  REPOSITORY_UNFIT: {
    meaning: 'The folder cannot be used as a repository.',
    cause: 'It is missing, is not a git repository, has no commit, or has a detached HEAD.',
    next: "Name a git repository with a commit and a checked-out branch on the server's machine.",
  },
  REVIEW_IN_PROGRESS: {
    meaning: 'A review of this work is running.',
    cause: 'The agent asked for a review earlier, and that review has not ended.',
    next: 'Wait: the feedback arrives in the worktree and as a message.',
  },
  REVIEW_LIMIT_EXCEEDED: {
    meaning: 'The work has already had the maximum number of reviews.',
    cause: '`max_iterations` limits the reviews of one instance.',
    next: 'If `status` is "abandoned", stop. Otherwise call `create_pull_request` with your current commits, or wait until a person runs `covenant instances allow ID`.',
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
    meaning: 'The instance has had the maximum number of additional reviews.',
    cause: 'A person can allow only a limited number of additional reviews.',
    next: 'Run `covenant instances abandon ID`, or review the work yourself.',
  },
  TOO_MANY_TERMINALS: {
    meaning: 'The server has as many open terminals as it allows.',
    cause: 'Each page that shows a terminal counts as one open terminal.',
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
    next: 'Look for the commits of the instance in the base branch or the pull request that `covenant instances show ID` names, or on the remote.',
  },
  WRONG_AGENT_TYPE: {
    meaning: 'This type of agent may not call the tool.',
    cause: 'Each type (coding, review, planning) has its own tools.',
    next: 'Use only the tools in your own tool list. The message says which type of agent can call this tool.',
  },
  WRONG_BRANCH: {
    meaning: 'Another branch is checked out in the worktree.',
    cause: 'The agent switched branches.',
    next: 'Run `git checkout` with the branch that the message names, and move your commits to that branch. Then repeat the call.',
  },
  WRONG_MACHINE: {
    meaning: 'The instance runs on another machine.',
    cause: 'Several servers share one database, and each controls only its own processes.',
    next: 'Run the command on the machine that the message names, or call the server of that machine.',
  },
} satisfies ErrorCodes;
