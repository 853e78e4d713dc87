import type { ErrorCodes } from './index.ts';

export const companionCodes = {
  BAD_ORIGIN: {
    meaning: 'The address of the server is not valid.',
    cause: '`--base-url` or COVIBE_BASE_URL is not an origin: scheme, host and port without a path.',
    next: 'Give scheme, host and port, such as `http://127.0.0.1:3001`.',
  },
  BAD_SETTING: {
    meaning: 'An environment variable of the bridge is not valid.',
    cause: 'COVIBE_TIMEOUT_MS or COVIBE_TOOLSETS has a wrong value.',
    next: 'Set the variable as the message says, or unset it.',
  },
  BROKEN_FILE: {
    meaning: 'A configuration file of an agent cannot be read.',
    cause: 'The file has a syntax error. Nothing was changed.',
    next: 'Correct the file at the line that the message names, then run the command again.',
  },
  CHANGED_MEANWHILE: {
    meaning: 'Another program changed the file at the same moment.',
    cause: 'The agent or an editor wrote the file. The command changed nothing.',
    next: 'Run the command again.',
  },
  GUARD_CHANGED: {
    meaning: "The guard's git hook was changed.",
    cause: 'Somebody added lines to the file. Nothing was changed.',
    next: 'Move the added lines elsewhere and delete the file, then run `covibe-local guard install` again.',
  },
  HOOK_UNREADABLE: {
    meaning: 'An existing git hook cannot be read.',
    cause: 'Your user may not read the hook, or the hook is not a file. Nothing was changed.',
    next: 'Correct the permissions of the hook or delete it, then run the command again.',
  },
  LINKED_FILE: {
    meaning: 'A configuration file is a link that setup does not follow.',
    cause: 'The link leads out of the repository, or it takes the place of a file that only setup writes. Nothing was changed.',
    next: 'Replace the link with the file that it leads to, then run the command again.',
  },
  NOT_COVENANT: {
    meaning: 'The program at this address is not a Covenant server.',
    cause: '`--base-url` names another program. Nothing was changed.',
    next: 'Give the origin of the Covenant server: `--base-url ORIGIN`.',
  },
  NOT_OURS: {
    meaning: 'The file was not written by setup.',
    cause: 'Setup stopped, because it would have replaced the file. Nothing was changed.',
    next: 'Move the file away, then run setup again.',
  },
  NO_AGENTS: {
    meaning: 'No coding agent was found on this machine.',
    cause: 'None of the supported programs is installed. Nothing was changed.',
    next: 'Install a supported program, or name your agents: `covibe-local setup --agents claude-code,codex`.',
  },
  NO_HOOKS_FOLDER: {
    meaning: 'git runs no hooks in this repository.',
    cause: '`core.hooksPath` does not name a folder. Nothing was changed.',
    next: 'Run `git config --show-origin core.hooksPath`, correct or unset it, then run the command again.',
  },
  NO_HTTP_HOOKS: {
    meaning: 'HTTP hooks would not work here.',
    cause: 'The server is not on this machine, or the agent does not support them. Nothing was changed.',
    next: 'Leave out `--hooks`, or use `--hooks command`.',
  },
  NO_INBOX: {
    meaning: 'The folder with usage files does not exist.',
    cause: 'The path is wrong.',
    next: 'Give the path of the folder: `--inbox FOLDER`.',
  },
  NO_RELEASE: {
    meaning: 'The server offers no release of the companion.',
    cause: "The server's configuration does not name a manifest with a tarball.",
    next: 'The operator runs `covenant companion sign VERSION TARBALL --key FILE`, sets `manifest` under `[companion]` in config.toml to the manifest.json that it writes, and restarts the server.',
  },
  NO_REPOSITORY: {
    meaning: 'The folder is not in a git repository.',
    cause: 'The command was run outside a git repository.',
    next: 'Run the command in the repository where your agents work, or create a repository with `git init`.',
  },
  NO_SUCH_HOOK: {
    meaning: 'The hook was called with an unknown agent or event.',
    cause: "The agent's hook configuration is from an older setup.",
    next: 'Run `covibe-local setup` again.',
  },
  NO_TOKEN: {
    meaning: 'There is no token for the server.',
    cause: 'Setup has not been run, or its credentials were removed.',
    next: 'Run `covibe-local setup`.',
  },
  NO_UPDATE_KEY: {
    meaning: 'The server names no key for signed updates.',
    cause: '`public_key` under `[companion]` is not set in config.toml.',
    next: 'Ask the operator to set `public_key` under `[companion]` in config.toml to the key that `covenant companion keygen FILE` prints, and to restart the server.',
  },
  ONE_FILE: {
    meaning: 'Two agents share one configuration file but need different entries.',
    cause: 'Both paths lead to the same file. Nothing was changed.',
    next: 'Give each agent its own file, or set up only one of the agents: `--agents NAME`.',
  },
  OTHER_FORM: {
    meaning: 'The entry exists in a form that setup cannot extend.',
    cause: 'The TOML file defines the entry in another form, such as `name = { … }`. Nothing was changed.',
    next: 'Rewrite the entry as a TOML table with the header that the message names, or remove it. Then run `covibe-local setup` again.',
  },
  OTHER_UPDATE_KEY: {
    meaning: "The server's update key is not the expected one.",
    cause: 'The key changed, or the address leads to another server. No key was pinned.',
    next: 'Ask the publisher of the releases for the fingerprint, then run `covibe-local setup --update-key FINGERPRINT`.',
  },
  REFUSED: {
    meaning: 'The server refused the setup.',
    cause: 'The message contains the reason that the server gave.',
    next: 'Follow the message, then run `covibe-local setup` again.',
  },
  RELEASE_FAILED: {
    meaning: 'An installed release of the companion stopped with an error.',
    cause: 'The release ran for at least 30 seconds, then failed.',
    next: 'Run `covibe-local watch` again. If the release ends within 30 seconds, the installed program runs instead.',
  },
  SERVER_BAD_ANSWER: {
    meaning: 'The answer does not come from a Covenant server.',
    cause: 'COVIBE_BASE_URL leads to another program or a proxy.',
    next: 'Correct COVIBE_BASE_URL.',
  },
  SERVER_FAILING: {
    meaning: 'The Covenant server is not healthy.',
    cause: 'Its health check fails. Nothing was changed.',
    next: "Run `covenant doctor` on the server's machine.",
  },
  TOKENS_MISSING: {
    meaning: 'Some agents did not get a token.',
    cause: 'The approval covered only some of the agents.',
    next: 'Run `covibe-local setup` again. It asks for the missing tokens.',
  },
  TOKEN_REFUSED: {
    meaning: 'The server does not accept COVIBE_MCP_TOKEN.',
    cause: 'The token is wrong, revoked or expired. Nothing was changed.',
    next: 'Set a valid token, or unset it so that setup asks for tokens.',
  },
  TWO_HOOKS: {
    meaning: 'Two git hooks exist that the guard did not write, but it expects at most one.',
    cause: 'The guard can keep only one hook of yours. It already keeps a hook, and then another hook was added. Nothing was changed.',
    next: 'Delete the hook that you do not need, then run `covibe-local guard install` again.',
  },
} satisfies ErrorCodes;
