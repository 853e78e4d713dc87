import type { EnvironmentVariable } from '../wire/environment.ts';

const variable = (name: string, fallback: string | null, meaning: string): EnvironmentVariable => ({
  name,
  programs: ['covibe-local'],
  default: fallback,
  meaning,
});

/** The environment variables of agent programs that the companion reads. */
export const CLIENT_VARIABLES: readonly EnvironmentVariable[] = [
  variable('CLAUDE_CONFIG_DIR', '`~/.claude`', "The folder with Claude Code's transcripts."),
  variable('CODEX_HOME', '`~/.codex`', "The folder with Codex's configuration and logs."),
  variable('CODEX_SQLITE_HOME', '`CODEX_HOME`', "The folder with Codex's log database."),
  variable('CLAUDECODE', null, 'Set by Claude Code for the commands that it runs.'),
  variable('CLAUDE_CODE_SESSION_ID', null, 'Set by Claude Code for the commands that it runs: the id of the current run.'),
  variable('CODEX_SESSION_ID', null, 'Set by Codex for the commands that it runs: the id of the current run.'),
  variable('CODEX_THREAD_ID', null, 'Set by Codex for the commands that it runs.'),
  variable('CODEX_SANDBOX', null, 'Set by Codex for the commands that it runs.'),
  variable('GEMINI_CLI', null, 'Set by Gemini CLI for the commands that it runs.'),
  variable('CURSOR_AGENT', null, 'Set by Cursor for the commands that its agent runs.'),
  variable('OPENCODE', null, 'Set by opencode for the commands that it runs.'),
  variable('XDG_CONFIG_HOME', '`~/.config`', 'The folder in which opencode, Cursor and systemd store their configuration.'),
  variable('APPDATA', '`~/AppData/Roaming`', 'The folder in which Cursor stores its data on Windows.'),
];
