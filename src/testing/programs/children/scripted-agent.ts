/**
 * An agent that follows a script instead of a model. The server starts it like any other agent. The files in its worktree tell it how to reach the server,
 * and its environment contains its token. Its id determines whether it acts as coder, reviewer or planner. It records answers and news for the test.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface AgentPlan {
  /** The folder for records. Each agent writes to `<id>.jsonl` in it. */
  readonly notes: string;
  /** For each round, what the reviewer does. With `wait`, the reviewer never answers. */
  readonly verdicts: readonly ('needs_work' | 'suggestions' | 'clarification' | 'approve' | 'wait' | 'die')[];
  /** The name of a file in the folder for records. Reviewers wait until it exists. */
  readonly heldUntil?: string;
  /** The issues that a planning agent creates. */
  readonly issues?: readonly object[];
}

const me = process.env.COVENANT_INSTANCE_ID as string;
const plan = JSON.parse(process.env.AGENT_PLAN as string) as AgentPlan;
const note = (what: object) => appendFileSync(join(plan.notes, `${me}.jsonl`), `${JSON.stringify(what)}\n`);
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
/** Whether the agent has a terminal. Without one, the server cannot send it text while it runs, so it ends and the server starts it again. */
const interactive = process.stdin.isTTY === true;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const forEver = () => new Promise<never>(() => setInterval(() => {}, 60_000));

const { covenant } = (JSON.parse(readFileSync('.covenant/mcp.json', 'utf8')) as { mcpServers: { covenant: { url: string; headers: Record<string, string> } } })
  .mcpServers;
const authorization = String(covenant.headers.Authorization).replace('$' + '{COVIBE_MCP_TOKEN}', process.env.COVIBE_MCP_TOKEN ?? '');

/** Calls a tool. While the server is being restarted, repeats the call. */
async function call(tool: string, args: object): Promise<Record<string, unknown>> {
  for (;;) {
    const client = new Client({ name: 'scripted-agent', version: '1.0.0' });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(covenant.url), { requestInit: { headers: { authorization } } }));
      const { structuredContent, isError } = await client.callTool({ name: tool, arguments: { ...args } });
      const answer = structuredContent as Record<string, unknown>;
      note({ tool, answer, isError: isError === true });
      return answer;
    } catch (error) {
      note({ tool, unreachable: String(error) });
      await pause(200);
    } finally {
      await client.close().catch(() => {});
    }
  }
}

const codeOf = (answer: Record<string, unknown>): unknown => (answer.error === 'REVIEW_LIMIT_EXCEEDED' ? answer.error : answer.code);

async function code(): Promise<void> {
  for (;;) {
    const round = readdirSync('.').filter((name) => name.startsWith('round-')).length + 1;
    writeFileSync(`round-${round}.txt`, `${round}\n`);
    git('add', '--', `round-${round}.txt`);
    git('-c', 'user.name=Coder', '-c', 'user.email=coder@localhost', 'commit', '--quiet', '--message', `Round ${round}`);
    const answer = await call('request_review', { completion_message: `Round ${round} is done.` });
    if (codeOf(answer) === 'REVIEW_LIMIT_EXCEEDED') {
      await call('create_pull_request', { title: 'All rounds', description: 'As far as reviews went.' });
      await forEver();
    }
    if (!interactive) return;
    const { value: heard } = (await lines.next()) as { value: string };
    const feedback = existsSync('REVIEW_FEEDBACK.md') ? readFileSync('REVIEW_FEEDBACK.md', 'utf8') : null;
    note({ heard, feedback, head: git('rev-parse', 'HEAD') });
    if (/pull request/i.test(heard)) await forEver();
  }
}

async function review(): Promise<void> {
  const round = Number(me.split('-a').at(-1));
  const verdict = plan.verdicts[round - 1] ?? 'wait';
  note({ reviewing: git('log', '-1', '--format=%s'), prompt: readFileSync('.covenant/prompt.md', 'utf8') });
  while (plan.heldUntil !== undefined && !existsSync(join(plan.notes, plan.heldUntil))) await pause(50);
  if (verdict === 'wait') await forEver();
  if (verdict === 'die') process.exit(3);
  if (verdict === 'approve') await call('create_pull_request', { title: `Approved in round ${round}`, description: 'Looks good.' });
  else {
    const items = [`Fix item ${round}`];
    await call('send_feedback', { feedback: `Round ${round}: not yet.`, feedback_type: verdict, priority: 'high', actionable_items: items });
  }
  await forEver();
}

note({ started: me, argv: process.argv.slice(2), interactive, pid: process.pid });
if (me.startsWith('review-')) await review();
else if (me.startsWith('planning-')) {
  await call('create_issues', { issues: plan.issues ?? [] });
  await forEver();
} else await code();
