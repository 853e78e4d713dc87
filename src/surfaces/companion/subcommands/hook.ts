import type { Readable } from 'node:stream';
import type { HookClient } from '../../../clients/client.ts';
import { HOOK_CLIENTS } from '../../../clients/index.ts';
import { placeOf } from '../../../machine/git/place.ts';
import { configuredToken } from '../../../wire/credentials.ts';
import { HOOK_EVENTS, type HookAnswer, type HookEvent, type HookQuestion } from '../../../wire/hook-question.ts';
import { parseJson, recordIn } from '../../../wire/json.ts';
import { CliError, option } from '../../cli/command.ts';
import { questionFrom } from '../../hook-question.ts';
import { BASE_URL, type CompanionCommand, originOf } from '../command.ts';
import { askHook, type HookResult, heldBackText, ignoreErrors } from '../hook-answer.ts';
import { noteSession, shouldNotify } from '../runs.ts';
import { noteRepo } from '../state.ts';

/** The events at which the hook also sends the git state of the repository. */
const WITH_GIT_STATE: readonly HookEvent[] = ['session-start', 'stop', 'session-end'];

/**
 * The command that clients run at their hooks. It reads the payload from stdin, and sends only the names, ids and paths from it to the server. It answers in
 * the format of the client. If anything fails, the agent continues. So the command never exits with code 2, because clients treat that code as a denial.
 */
export const hookCommand: CompanionCommand = {
  name: 'hook',
  summary: 'Run by agent programs at their hooks.',
  arguments: [
    { name: 'CLIENT', description: 'The agent program.' },
    { name: 'EVENT', description: 'The hook event.' },
  ],
  options: {
    ...BASE_URL,
    transcript: { value: 'PATH', description: 'The transcript to read usage from.' },
    session: { value: 'ID', description: 'The session that the usage belongs to.' },
  },
  description: 'Reads the payload from standard input.',
  examples: ['hook claude-code before-tool'],
  local: true,
  hidden: true,
  async run(invocation) {
    const { env, out } = invocation;
    const [name = '', said] = invocation.positionals;
    const origin = originOf(invocation);
    if (said === 'usage') {
      await (await import('../usage-report.ts')).reportUsage(env, origin, {
        transcript: option(invocation, 'transcript'),
        session: option(invocation, 'session'),
      });
      return undefined;
    }
    const client = Object.hasOwn(HOOK_CLIENTS, name) ? HOOK_CLIENTS[name] : undefined;
    const event = HOOK_EVENTS.find((known): known is HookEvent => known === said);
    if (!client || !event)
      throw new CliError('NO_SUCH_HOOK', 'Unknown client or event. The server was not asked.', 'Run `covibe-local setup` to rewrite the hooks.');
    const native = await payloadFrom(process.stdin);
    if (typeof native === 'string') {
      out.note(`covibe-local: ${native}, so this hook of ${name} was ignored. The agent continues.`);
      return undefined;
    }
    if (client.isForeign?.(native)) return undefined;
    const question = await asked(env, event, client.reduce(event, native));
    const heard = await askHook(env, { origin, client: name, event, question, token: configuredToken(env, origin, env.COVIBE_AGENT || name) });
    const { answer, note } = answerTo(heard, { env, name, client, event, question, origin });
    if (note !== undefined) out.note(note);
    if (Object.keys(answer).length > 0) out.result(JSON.stringify(answer));
    if (client.transcript && WITH_GIT_STATE.includes(event)) {
      const session = heard.kind === 'answered' ? heard.session_id : undefined;
      const transcript = client.transcript(native);
      if (transcript !== undefined && session !== undefined) ignoreErrors(() => noteSession(env, transcript, session, Date.now()));
      if (event !== 'session-start') (await import('../usage-report.ts')).reportUsageAside(env, origin, { transcript, session });
    }
    return undefined;
  },
};

/** Builds the question for the server. Also records that an agent works in this repository. */
async function asked(env: NodeJS.ProcessEnv, event: HookEvent, reduced: ReturnType<HookClient['reduce']>): Promise<HookQuestion> {
  const question = questionFrom(reduced);
  const place = reduced.folder === undefined ? undefined : placeOf(reduced.folder);
  if (place) ignoreErrors(() => noteRepo(env, place, Date.now()));
  if (!place || !WITH_GIT_STATE.includes(event)) return question;
  return { ...question, ...(await (await import('../git-state.ts')).gitState(place.root)) };
}

interface HookCall {
  readonly env: NodeJS.ProcessEnv;
  readonly name: string;
  readonly client: HookClient;
  readonly event: HookEvent;
  readonly question: HookQuestion;
  readonly origin: string;
}

/** Builds the answer to the client. `note` is a text on stderr for the person, which not every client shows. */
function answerTo(heard: HookResult, { env, name, client, event, question, origin }: HookCall): { answer: Readonly<Record<string, unknown>>; note?: string } {
  if (heard.kind === 'answered') return { answer: heard.body };
  const denied = heard.failClosed && event === 'before-tool' && question.edits !== undefined;
  const goesOn = heard.failClosed ? 'Edits are blocked until it answers' : 'The agent continues without Covenant';
  const problem =
    heard.kind === 'away'
      ? `The Covenant server at ${origin} is not reachable (${heard.reason}). ${goesOn}. Next: run covibe-local doctor.`
      : `${heard.message} ${goesOn}. Next: ${heard.next}`;
  const tell = shouldNotify(env, `${name} ${question.client_session ?? process.ppid}`, Date.now());
  const answer = client.render(event, {
    ...SILENT,
    ...(denied && { decision: 'deny', reason: heldBackText('This edit was not made', origin, heard) }),
    ...(tell && { notice: problem }),
  });
  return { answer, ...(tell && { note: `covibe-local: ${problem}` }) };
}

const SILENT: HookAnswer = { decision: 'allow', reason: null, context: null, notice: null, session_id: null, fail_closed: false };

/** The maximum size of a payload. It is large, because a payload contains the text that a tool has read or will write. */
const LARGEST = 64 * 1024 * 1024;
/** The time limit for reading the payload. Short, because the agent waits. Its program already has the whole payload when it starts the hook. */
const TIMEOUT_MS = 5_000;

/** Reads the payload from a stream. If the payload is unusable, returns a text with the reason. */
export async function payloadFrom(stream: Readable, timeoutMs = TIMEOUT_MS): Promise<string | Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => stream.destroy(), timeoutMs);
  try {
    for await (const chunk of stream) {
      size += (chunk as Buffer).length;
      if (size > LARGEST) return `the payload is larger than ${LARGEST / 1024 / 1024} MiB`;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return 'the payload is incomplete';
  } finally {
    clearTimeout(timer);
  }
  const payload = parseJson(Buffer.concat(chunks).toString('utf8'));
  return payload === undefined ? 'the payload is not JSON' : recordIn(payload);
}
