import { spawn } from 'node:child_process';

/** Opens the link in a browser if this machine has a desktop. On other machines, people open the printed link themselves. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  if (!process.stdout.isTTY) return;
  const program = process.platform === 'darwin' ? 'open' : env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
  if (!program) return;
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
