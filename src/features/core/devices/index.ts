import type { Feature } from '../../../kernel/tool.ts';
import { UNANSWERED_KEPT_MS } from './desk.ts';
import { deviceTools } from './tools.ts';

export { createDeviceDesk, type DeviceDesk } from './desk.ts';
export { devicesToApprove } from './tools.ts';

export const devices = (packageRoot: string): Feature => ({
  name: 'devices',
  implementations: deviceTools(packageRoot),
  keeps: [
    { what: 'Devices that were set up', ms: null },
    { what: 'Device requests that nobody approved, or whose tokens were not fetched', ms: UNANSWERED_KEPT_MS },
  ],
});
