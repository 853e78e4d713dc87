export type AreaName = 'pipe' | 'startup' | 'workflow' | 'overlap' | 'overlap-quality' | 'gateway' | 'bridge' | 'events' | 'dashboard' | 'flood';

export interface Area {
  readonly name: AreaName;
  readonly title: string;
  /** How it is measured. */
  readonly method: string;
  /** Where we are slower, and why. */
  readonly notes?: string;
}

/** What is measured, in the order in which it runs and is told. */
export const AREAS: readonly Area[] = [
  {
    name: 'pipe',
    title: 'A call',
    method: `\`echo\` over HTTP by 1 and by 32 clients at once: authenticated, gated, parsed, journaled and synced before it is answered. Beside it the same
echo by a bare Hono route and by the bare MCP SDK, which check nothing and keep nothing; and the event that such a call writes,
written by hand into the same tables with a COMMIT each (\`node:sqlite\` in WAL with synchronous=FULL; \`pg\` with the same statements,
one connection for each client), without HTTP and without a call.`,
    notes: `A single client waits for the disk at every call, which the bare servers do not: that is the price of an answer that survives a power
cut. Many clients share a commit, so that there the journal costs processor time rather than syncs.`,
  },
  {
    name: 'startup',
    title: 'Start and rest',
    method: `From the start of the process until it serves, with a database that is there already, and its resident memory two seconds later; beside
a server of the bare MCP SDK with one tool, run from its source.`,
    notes: 'The bare server opens no database and has one tool.',
  },
  {
    name: 'workflow',
    title: 'Workflows',
    method: `Whole calls in one process (gated, journaled, synced) on a graph in layers of 100 tasks with three dependencies each. \`workflow_next_tasks\` stands
beside reading all tasks and edges of the workflow from the same store; \`task_load_context\` beside reading and counting every checkpoint; claim to
complete (four calls: claim, planning, in_progress, completed) by 32 agents beside writing the events of those calls by hand, two and a COMMIT for a call.
The peers: task-master over MCP (stdio) beside Covenant over MCP (HTTP), one agent, the same 1,000 tasks; pg-boss in the same process on the same
PostgreSQL, 32 workers that fetch one job and complete it, both with 20 connections.`,
    notes: `task-master keeps the tasks of a project in one JSON file, which it reads whole for every question and writes whole, without a sync, for every change;
it has a status where we have agents that claim, and no journal. Its two changes of a task stand beside our four calls. pg-boss is a queue: a job is one row
and two statements, its workers do not wait for each other, and there is no journal; what it has of dependencies is not used. A task of ours is four calls with two
events each, all in one chain.`,
  },
  {
    name: 'overlap',
    title: 'The overlap check',
    method: `A whole \`covibe_task check\` (compared, stored, journaled, synced) of made-up tasks with the word statistics of real ones, half of them
rephrasings of stored ones, in a growing workspace; beside the same check in an empty one, and beside a full-text search for the same words in
SQLite's FTS5 (its ten best by BM25, nothing stored).`,
    notes: 'FTS5 only ranks texts: it compares no files, keeps no check and writes no event. How well each finds duplicates is the next table.',
  },
  {
    name: 'overlap-quality',
    title: 'What the overlap check finds',
    method: `On the pull requests and bug reports that [overlap.md](overlap.md) describes, where that data is there: the share of duplicates whose original is
the first of those ranked, or among the first five; beside BM25 over the same terms and the prototype that the engine was planned from.`,
  },
  {
    name: 'gateway',
    title: 'Another server behind the gateway',
    method: `One \`echo\` of a server that Covenant has behind it, as a child over stdio and over HTTP, by 1 and by 16 callers; beside asking that server
directly with the SDK's client, and beside mcp-proxy, which has the same child and is sent the same request.`,
    notes: `mcp-proxy passes the message on: no grants, no pinned definitions, no journal, and here without the one key that it can ask for. What we are
slower by is mostly the sync of the journal.`,
  },
  {
    name: 'bridge',
    title: 'What agents wait for',
    method: `The stdio bridge from the start of its process to its first answers, beside a bare SDK server over stdio. A hook before an edit, with no claims and with
200 claims of others in the repository: as an HTTP request beside a bare Hono route that is sent the same, and as a whole process beside a Node process
that does nothing.`,
  },
  {
    name: 'events',
    title: 'The journal',
    method: `Events appended by 1, 32 and 256 writers at once, each waiting for its own; the hash chain and the commit are in it. Beside it the same rows by
hand, with a COMMIT each (one connection for each writer on PostgreSQL; SQLite has one writer). Verifying reads and hashes the whole chain; the bare loop
hashes the same bytes from memory. A page is 200 events from the middle. Followers get each event over \`/api/events\`: the delay is from the
commit to the receipt, beside a bare \`ws\` server that sends a ready text to all.`,
    notes: `Without a chain nobody waits for anybody: plain inserts on PostgreSQL by many connections share its commits without ours. Each follower reads what
it is sent from the store, as whoever it is may see it; the bare server sends every one the same bytes.`,
  },
  {
    name: 'dashboard',
    title: 'The dashboard',
    method: `Pages in a real browser that is slowed down four times, over 10,000 tasks, 100,000 events and a workflow of 5,000 tasks; beside the same pages over a
store with little in it.`,
  },
  {
    name: 'flood',
    title: 'Under a flood',
    method: `One agent calls \`clock\`, with 5 ms between two calls, while 64 connections of another process send the largest bodies that callers without a token may send, as fast as they can: 8 MiB
to \`/mcp\`, 64 KiB to \`/api/mcp\`, 4 KiB to device setup. Beside the same agent on the same server while nobody else calls. Flood, agent and server share two cores.`,
  },
];
