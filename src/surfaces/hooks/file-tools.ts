import { recordOf, stringOf } from './client.ts';
import { filesWritten, type WrittenFiles } from './shell.ts';
import { patchedFiles } from './writers.ts';

type Input = Readonly<Record<string, unknown>>;

/** How a tool says which files it will write. */
type Files = (input: Input) => WrittenFiles;

/** What a client's tools write, by the name that its hooks give them. Tools that are not in it write nothing that we know of. */
export type FileTools = Readonly<Record<string, Files>>;

const all = (paths: readonly string[]): WrittenFiles => ({ files: paths.map((path) => ({ path })), unread: false });

/** One of these arguments is the file. */
export const named =
  (...names: string[]): Files =>
  (input) =>
    all(names.flatMap((name) => stringOf(input[name]) ?? []).slice(0, 1));

export const shell =
  (command: string, folder?: string): Files =>
  (input) => {
    const inFolder = folder === undefined ? undefined : stringOf(input[folder]);
    const written = filesWritten(stringOf(input[command]) ?? '');
    if (inFolder === undefined) return written;
    return { ...written, files: written.files.map((file) => (file.path.startsWith('/') ? file : { ...file, path: `${inFolder}/${file.path}` })) };
  };

export const patch =
  (name: string): Files =>
  (input) =>
    all(patchedFiles(stringOf(input[name]) ?? ''));

/** As fields of what a payload is reduced to, which are not there where nothing is written. */
export function filesOf(tools: FileTools, tool: string | undefined, input: unknown): Partial<WrittenFiles> {
  const written = tool !== undefined && Object.hasOwn(tools, tool) ? tools[tool]?.(recordOf(input)) : undefined;
  return { ...(written?.files.length && { files: written.files }), ...(written?.unread && { unread: true }) };
}
