import { Outlet, useParams } from '@tanstack/react-router';
import { Views } from '../../parts/views.tsx';

export function Settings() {
  const { agent = 'claude-code' } = useParams({ strict: false });
  return (
    <div className="max-w-5xl">
      <h1>Settings</h1>
      <Views
        label="Settings"
        views={[
          { to: '/settings/tokens', label: 'Tokens' },
          { to: '/settings/agents/$agent', params: { agent }, label: 'Agent setup' },
          { to: '/settings/devices', label: 'Devices' },
          { to: '/settings/members', label: 'Members' },
          { to: '/settings/roles', label: 'Roles' },
          { to: '/settings/limits', label: 'Limits' },
          { to: '/settings/retention', label: 'Retention' },
          { to: '/settings/theme', label: 'Theme' },
        ]}
      />
      <Outlet />
    </div>
  );
}
