export type AreaName = 'pipe' | 'startup' | 'workflow' | 'overlap' | 'overlap-quality' | 'gateway' | 'bridge' | 'events' | 'dashboard' | 'flood';

export interface Area {
  readonly name: AreaName;
  readonly title: string;
  /** The method of measurement. */
  readonly method: string;
  /** Where we are slower, and why. */
  readonly notes?: string;
}

/** All areas, in the order in which they run and are reported. */
export const AREAS: readonly Area[] = [
  {
    name: 'pipe',
    title: 'A call',
    method: `Calls to \`echo\` over HTTP, by 1 and by 32 concurrent clients. Each call is authenticated, gated, parsed, journaled and synced before it is answered.

The baselines are:

- the same echo on a bare Hono route and on the bare MCP SDK, which check and store nothing,
- the event of such a call, written directly into the same tables with one COMMIT each, without HTTP (\`node:sqlite\` in WAL with synchronous=FULL; \`pg\` with the same
  statements and one connection per client).`,
    notes: `A single client waits for the disk at every call. The bare servers do not wait, and their answers would not survive a power failure. Concurrent clients share
a commit, so for them the journal costs processor time rather than syncs.`,
  },
  {
    name: 'startup',
    title: 'Start time and memory',
    method: `Time from the start of the process until it serves, with an existing database, and its resident memory two seconds later. The baseline is a server of the bare MCP SDK
with one tool, run from its source.`,
    notes: 'The bare server opens no database and has one tool.',
  },
  {
    name: 'workflow',
    title: 'Workflows',
    method: `Whole calls in one process (gated, journaled, synced) on a graph in layers of 100 tasks with three dependencies each.

| measured | baseline |
| --- | --- |
| \`workflow_next_tasks\` | reading all tasks and edges of the workflow from the same store |
| \`task_load_context\` | reading and counting every checkpoint |
| claim to complete by 32 agents: four calls (claim, planning, in_progress, completed) | writing the events of those calls directly, two events and one COMMIT per call |
| next task over MCP (HTTP), one agent, 1,000 tasks | task-master over MCP (stdio), the same tasks |
| claim to complete, 20 connections | pg-boss in the same process on the same PostgreSQL: 32 workers that fetch and complete one job at a time, 20 connections |`,
    notes: `task-master stores the tasks of a project in one JSON file. It reads the whole file for every question, and writes the whole file, without a sync, for every change. It has a status field instead of
claims by agents, and no journal. Its two changes of a task are compared with our four calls.

pg-boss is a queue. A job is one row and two statements, its workers do not wait for each other, and there is no journal. Its dependencies are not used here. One of our tasks is four calls
with two events each, all in one chain.`,
  },
  {
    name: 'overlap',
    title: 'The overlap check',
    method: `A whole \`covibe_task check\` (compared, stored, journaled, synced) in a growing workspace. The tasks are synthetic, with the word statistics of real ones, and half of the
queries rephrase stored tasks. The baselines are the same check in an empty workspace, and a full-text search for the same words in SQLite's FTS5 (its ten best by BM25, nothing stored).`,
    notes: 'FTS5 only ranks texts. It compares no files, stores no check and writes no event. The next table shows how well each finds duplicates.',
  },
  {
    name: 'overlap-quality',
    title: 'Quality of the overlap check',
    method: `Measured on the pull requests and bug reports that [overlap.md](overlap.md) describes, if that data is available. The figures are the shares of duplicates whose original is ranked first, or among the
first five. The baselines are BM25 over the same terms, and the prototype of the engine.`,
  },
  {
    name: 'gateway',
    title: 'An external server behind the gateway',
    method: `Calls to \`echo\` of an external server behind Covenant, as a child process over stdio and over HTTP, by 1 and by 16 callers. The baselines are calling that server directly with the SDK's
client, and mcp-proxy, which has the same child process and gets the same request.`,
    notes: `mcp-proxy only forwards the message. It has no grants, no pinned definitions and no journal, and runs without its optional API key here. Most of our extra time is the sync of
the journal.`,
  },
  {
    name: 'bridge',
    title: 'Delays that agents experience',
    method: `The stdio bridge, from the start of its process to its first answers, compared with a bare SDK server over stdio. A hook before an edit, with no claims and with 200 claims of others in
the repository. The HTTP hook is compared with the same request to a bare Hono route. The whole hook process is compared with a Node process that does nothing.`,
  },
  {
    name: 'events',
    title: 'The journal',
    method: `- **Appending**: events by 1, 32 and 256 concurrent writers, each waiting for its own event, including hash chain and commit. The baseline writes the same rows directly, with one COMMIT each
  (one connection per writer on PostgreSQL; SQLite has one writer).
- **Verifying**: reads and hashes the whole chain. The bare loop hashes the same bytes from memory.
- **Page**: 200 events from the middle.
- **Followers**: receive each event over \`/api/events\`. The delay is from the commit to the receipt. The baseline is a bare \`ws\` server that sends a prepared text to all.`,
    notes: `Without a chain, writers do not wait for each other, and plain inserts of many connections on PostgreSQL share its commits. For each follower, the server reads the events from the store and removes what that viewer may not see. The
bare server sends the same bytes to all.`,
  },
  {
    name: 'dashboard',
    title: 'The dashboard',
    method: `Pages in a real browser, slowed down four times, over 10,000 tasks, 100,000 events and a workflow of 5,000 tasks. The baseline is the same pages on a small store.`,
  },
  {
    name: 'flood',
    title: 'Under a flood',
    method: `One agent calls \`clock\`, with 5 ms between two calls. Meanwhile 64 connections of another process send the largest bodies that callers without a token may send, as fast as they can: 8 MiB to
\`/mcp\`, 64 KiB to \`/api/mcp\`, 4 KiB to device setup. The baseline is the same agent on the same server without other callers. Flood, agent and server share two cores.`,
  },
];
