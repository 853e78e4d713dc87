import { recordOf, stringOf } from './client.ts';
import { patchedFiles } from './patch.ts';
import { filesWritten } from './shell.ts';

type Input = Readonly<Record<string, unknown>>;

/** How a tool says which files it will write. */
type Files = (input: Input) => readonly string[];

/** What a client's tools write, by the name that its hooks give them. Tools that are not in it write nothing that we know of. */
export type FileTools = Readonly<Record<string, Files>>;

/** One of these arguments is the file. */
export const named =
  (...names: string[]): Files =>
  (input) =>
    names.flatMap((name) => stringOf(input[name]) ?? []).slice(0, 1);

export const shell =
  (command: string, folder?: string): Files =>
  (input) => {
    const inFolder = folder === undefined ? undefined : stringOf(input[folder]);
    const written = filesWritten(stringOf(input[command]) ?? '');
    return inFolder === undefined ? written : written.map((path) => (path.startsWith('/') ? path : `${inFolder}/${path}`));
  };

export const patch =
  (name: string): Files =>
  (input) =>
    patchedFiles(stringOf(input[name]) ?? '');

export function filesOf(tools: FileTools, tool: string | undefined, input: unknown): readonly string[] {
  const files = tool !== undefined && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  return files?.(recordOf(input)) ?? [];
}
