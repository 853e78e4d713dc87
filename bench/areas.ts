export type AreaName = 'pipe' | 'startup' | 'workflow' | 'overlap' | 'overlap-quality' | 'gateway' | 'bridge' | 'events' | 'dashboard' | 'flood';

export interface Area {
  readonly name: AreaName;
  readonly title: string;
  /** How the area is measured. */
  readonly method: string;
  /** In which cases Covenant is slower than the baseline, and why. */
  readonly notes?: string;
}

/** All areas, in the order in which they run and are reported. */
export const AREAS: readonly Area[] = [
  {
    name: 'pipe',
    title: 'A call',
    method: `1 client or 32 concurrent clients call the tool \`echo\` over HTTP. Each call is authenticated, gated, parsed, journaled and synced to disk before
it is answered.

The baselines are:

- the same echo as a bare Hono route and as a bare server of the MCP SDK, which check and store nothing,
- the event of such a call, written directly into the same tables without HTTP, with one COMMIT per event (\`node:sqlite\` in WAL mode with synchronous=FULL;
  \`pg\` with the same statements and one connection per client).`,
    notes: `With Covenant, a single client waits for the disk at every call. The bare servers do not wait, and would lose their data in a power failure. Calls
of concurrent clients are committed together, so with many clients the journal costs mainly processor time.`,
  },
  {
    name: 'startup',
    title: 'Start time and memory',
    method: `The time from the start of the server process until it answers, with an existing database, and the process's resident memory two seconds later. The
baseline is a server of the bare MCP SDK with one tool, run from its source.`,
    notes: 'The bare server opens no database and has one tool.',
  },
  {
    name: 'workflow',
    title: 'Workflows',
    method: `Whole calls in one process (gated, journaled, synced) on a workflow whose graph has layers of 100 tasks. Each task depends on three tasks.

| measured | baseline |
| --- | --- |
| \`workflow_next_tasks\` | reading all tasks and edges of the workflow from the same store |
| \`task_load_context\` | reading and counting every checkpoint |
| claim to complete by 32 agents: four calls (claim, planning, in_progress, completed) | writing the events of those calls directly, two events and one COMMIT per call |
| next task over MCP (HTTP), one agent, 1,000 tasks | task-master over MCP (stdio), the same tasks |
| claim to complete, 20 connections | pg-boss in the same process on the same PostgreSQL: 32 workers that fetch and complete one job at a time, 20 connections |`,
    notes: `task-master stores the tasks of a project in one JSON file. It reads the whole file for every query, and writes the whole file, without a sync, for
every change. Tasks have a status field, but agents cannot claim them, and there is no journal. With task-master, an agent makes two changes to complete a task.
With Covenant, it makes four calls.

pg-boss is a queue. A job is one row and takes two statements, workers do not wait for each other, and there is no journal. The benchmark does not use
dependencies between its jobs. One of our tasks takes four calls. Each call writes two events, and all events are in one chain.`,
  },
  {
    name: 'overlap',
    title: 'The overlap check',
    method: `A whole \`covibe_task check\` (compared, stored, journaled, synced) in workspaces of different sizes. The tasks are synthetic, but their words have
the same statistics as those of real tasks. Half of the checks rephrase a stored task. The baselines are the same check in an empty workspace, and a full-text
search for the same words in SQLite's FTS5, which returns the ten best matches by BM25 and stores nothing.`,
    notes:
      'FTS5 only ranks texts. It compares no files, stores no check and writes no event. The next table shows how well Covenant and plain text search find duplicates.',
  },
  {
    name: 'overlap-quality',
    title: 'Quality of the overlap check',
    method: `The quality is measured on the pull requests and bug reports that [overlap.md](overlap.md) describes, if that data is available. A figure is the
share of duplicates whose original is ranked first, or among the first five. The baselines are BM25 over the same terms, and an early prototype of the overlap
check.`,
  },
  {
    name: 'gateway',
    title: 'An external server behind the gateway',
    method: `1 or 16 callers call the tool \`echo\` of an external server through Covenant. The external server is a child process over stdio, or a server over
HTTP. The baselines are calls to that server directly with the SDK's client, and calls through mcp-proxy, which starts the same child process and gets the same
request.`,
    notes: `mcp-proxy only forwards messages. It has no grants, no pinned definitions and no journal, and runs without its optional API key here. Most of
Covenant's additional time is spent on syncing the journal to disk.`,
  },
  {
    name: 'bridge',
    title: 'Delays that agents experience',
    method: `The first figures are the times from the start of the stdio bridge to its first answers, compared with a bare SDK server over stdio. The other
figures are the times of a hook before an edit, in a repository without claims and in one with 200 claims of others. The HTTP hook is compared with the same
request to a bare Hono route. The whole hook process is compared with a Node process that does nothing.`,
  },
  {
    name: 'events',
    title: 'The journal',
    method: `- **Appending**: 1, 32 or 256 concurrent writers append events, and each writer waits until its event is chained and committed. The baseline writes
the same rows directly, with one COMMIT per event (one connection per writer on PostgreSQL; SQLite has one writer).
- **Verifying**: reads and hashes the whole chain. The baseline is a bare loop that hashes the same bytes from memory.
- **Page**: reads 200 events from the middle of the journal.
- **Followers**: clients receive each event over \`/api/events\`. The delay is the time from the commit until a client has received the event. The baseline is a
  bare \`ws\` server that sends a prepared text to all clients.`,
    notes: `Because of the hash chain, writers have to wait for each other. The plain inserts of the baseline have no chain, so PostgreSQL can commit those of
many connections together. For each follower, Covenant reads the events from the store and removes what that viewer may not see. The bare server sends the same
bytes to all followers.`,
  },
  {
    name: 'dashboard',
    title: 'The dashboard',
    method: `A real browser, slowed down by a factor of four, opens the pages of the dashboard on a store with 10,000 tasks, 100,000 events and a workflow of
5,000 tasks. The baseline is the same pages on a small store.`,
  },
  {
    name: 'flood',
    title: 'Under a flood',
    method: `One agent calls \`clock\`, with 5 ms between two calls. At the same time, a separate process sends request bodies over 64 connections as fast as it
can. It has no token, and the bodies have the largest size: 8 MiB to \`/mcp\`, 64 KiB to \`/api/mcp\`, and 4 KiB to device setup. The baseline is the same agent
on the same server without other callers. The flood, the agent and the server share two cores.`,
  },
];
