import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export interface WorkflowTemplateRow {
  workspace_id: string;
  id: string;
  name: string;
  description: string | null;
  /** Tasks and variables. */
  definition: JsonText;
  from_workflow_id: string | null;
  actor: string;
  created_at: EpochMs;
}
