// Answers `meta` with the `_meta` of the call, as JSON.
import { serve, text, tool } from './rpc.mjs';

serve({ name: 'tells-meta', tools: [tool('meta')], call: { meta: (_args, _id, params) => text(JSON.stringify(params._meta ?? {})) } });
