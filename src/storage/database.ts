import type { ApprovalRow, CallRoundRow } from '../features/core/approvals/tables.ts';
import type { GrantRow } from '../features/core/capabilities/tables.ts';
import type { DeviceGrantRow } from '../features/core/devices/tables.ts';
import type { JournalGrowthRow } from '../features/core/events/tables.ts';
import type { ClientRunRow } from '../features/core/hooks/tables.ts';
import type { DeveloperRow, MachinePermissionRow, PageTicketRow, SigninLinkRow, TokenRow, WorkspaceRow } from '../features/core/identity/tables.ts';
import type { SettingRow } from '../features/core/settings/tables.ts';
import type { CycleHandoffRow, CycleRow, PskFailureRow, RoleSessionRow } from '../features/cycle/tables.ts';
import type { UpstreamPinRow, UpstreamRow } from '../features/gateway/servers/tables.ts';
import type { InstanceRelationshipRow, InstanceRow } from '../features/review/instances/tables.ts';
import type { ReviewFeedbackRow } from '../features/review/reviews/tables.ts';
import type { SessionContextRow } from '../features/team/contexts/tables.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../features/team/coordination/tables.ts';
import type { NoteRow } from '../features/team/notes/tables.ts';
import type {
  FileMarkRow,
  OverlapItemRow,
  OverlapPostingRow,
  OverlapStateRow,
  OverlapTermRow,
  OverlapVectorRow,
  OverlapWarningRow,
  PreflightCheckRow,
  ScopeVerdictRow,
} from '../features/team/overlap/tables.ts';
import type { AgentSessionRow, LocalWorktreeRow, MachineRow, RegisteredRepoRow, RepoCommitRow, SessionActivityRow } from '../features/team/sessions/tables.ts';
import type { TaskRow } from '../features/team/tasks/tables.ts';
import type { ParallelAuditRow } from '../features/team/team-overview/tables.ts';
import type { AgentSpanRow, ModelPriceRow } from '../features/team/usage/tables.ts';
import type { WorkstreamRow } from '../features/team/workstreams/tables.ts';
import type { AgentRow } from '../features/workflow/agents/tables.ts';
import type { MessageRow } from '../features/workflow/messages/tables.ts';
import type { RepositoryRow } from '../features/workflow/repositories/tables.ts';
import type { WorkflowTemplateRow } from '../features/workflow/templates/tables.ts';
import type { CheckpointRow, WorkflowDependencyRow, WorkflowRow, WorkflowTaskRow } from '../features/workflow/workflows/tables.ts';
import type { WorktreeRow } from '../features/workflow/worktrees/tables.ts';
import type { EventRow, JournalAnchorRow, JournalHeadRow, SchemaMigrationRow } from './tables.ts';

/** Every table of the one store; each feature describes its own rows. */
export interface Database {
  schema_migrations: SchemaMigrationRow;
  journal_growth: JournalGrowthRow;
  events: EventRow;
  journal_heads: JournalHeadRow;
  journal_anchors: JournalAnchorRow;
  workspaces: WorkspaceRow;
  developers: DeveloperRow;
  machine_permissions: MachinePermissionRow;
  tokens: TokenRow;
  signin_links: SigninLinkRow;
  page_tickets: PageTicketRow;
  device_grants: DeviceGrantRow;
  client_runs: ClientRunRow;
  grants: GrantRow;
  upstreams: UpstreamRow;
  upstream_pins: UpstreamPinRow;
  approvals: ApprovalRow;
  call_rounds: CallRoundRow;
  cycles: CycleRow;
  cycle_handoffs: CycleHandoffRow;
  role_sessions: RoleSessionRow;
  psk_failures: PskFailureRow;
  instances: InstanceRow;
  instance_relationships: InstanceRelationshipRow;
  review_feedback: ReviewFeedbackRow;
  settings: SettingRow;
  overlap_items: OverlapItemRow;
  overlap_postings: OverlapPostingRow;
  overlap_terms: OverlapTermRow;
  overlap_state: OverlapStateRow;
  overlap_vectors: OverlapVectorRow;
  file_marks: FileMarkRow;
  preflight_checks: PreflightCheckRow;
  overlap_warnings: OverlapWarningRow;
  scope_verdicts: ScopeVerdictRow;
  tasks: TaskRow;
  workstreams: WorkstreamRow;
  parallel_audits: ParallelAuditRow;
  agent_sessions: AgentSessionRow;
  session_activity: SessionActivityRow;
  machines: MachineRow;
  registered_repos: RegisteredRepoRow;
  local_worktrees: LocalWorktreeRow;
  repo_commits: RepoCommitRow;
  session_contexts: SessionContextRow;
  claims: ClaimRow;
  announcements: AnnouncementRow;
  asks: AskRow;
  handoffs: HandoffRow;
  notes: NoteRow;
  agent_spans: AgentSpanRow;
  model_prices: ModelPriceRow;
  repositories: RepositoryRow;
  agents: AgentRow;
  workflows: WorkflowRow;
  workflow_tasks: WorkflowTaskRow;
  workflow_dependencies: WorkflowDependencyRow;
  checkpoints: CheckpointRow;
  worktrees: WorktreeRow;
  workflow_templates: WorkflowTemplateRow;
  messages: MessageRow;
}
