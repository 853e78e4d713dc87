/** How the operator says in which workspace a call is meant; anybody else is refused who names one. */
export const WORKSPACE_HEADER = 'x-covenant-workspace';
