import { spawn } from 'node:child_process';

/** Opens the link on a machine with a desktop. On other machines people use the printed link. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  if (!process.stdout.isTTY) return;
  const program = process.platform === 'darwin' ? 'open' : env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
  if (!program) return;
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
