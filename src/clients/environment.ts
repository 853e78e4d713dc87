import type { EnvironmentVariable } from '../wire/environment.ts';

const variable = (name: string, fallback: string | null, meaning: string): EnvironmentVariable => ({
  name,
  programs: ['covibe-local'],
  default: fallback,
  meaning,
});

/** The variables of agent programs that the companion reads. */
export const CLIENT_VARIABLES: readonly EnvironmentVariable[] = [
  variable('CLAUDE_CONFIG_DIR', '`~/.claude`', "The folder with Claude Code's transcripts."),
  variable('CODEX_HOME', '`~/.codex`', "The folder with Codex's configuration and logs."),
  variable('CODEX_SQLITE_HOME', '`CODEX_HOME`', "The folder with Codex's log database."),
  variable('CLAUDECODE', null, 'Set by Claude Code: the command runs for it.'),
  variable('CLAUDE_CODE_SESSION_ID', null, 'Set by Claude Code: its id of the run.'),
  variable('CODEX_SESSION_ID', null, 'Set by Codex: the command runs for it, in this run.'),
  variable('CODEX_THREAD_ID', null, 'Set by Codex: the command runs for it.'),
  variable('CODEX_SANDBOX', null, 'Set by Codex: the command runs for it.'),
  variable('GEMINI_CLI', null, 'Set by Gemini CLI: the command runs for it.'),
  variable('CURSOR_AGENT', null, 'Set by Cursor: the command runs for it.'),
  variable('OPENCODE', null, 'Set by opencode: the command runs for it.'),
  variable('XDG_CONFIG_HOME', '`~/.config`', 'Where opencode, Cursor and systemd keep their configuration.'),
  variable('APPDATA', '`~/AppData/Roaming`', 'Where Cursor keeps its data on Windows.'),
];
