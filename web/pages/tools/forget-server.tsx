import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAct } from '../../queries.ts';

export function ForgetServer({ server, onClose }: { server: string; onClose: () => void }) {
  const forget = useAct('servers.forget');
  const say = useToast();
  const act = (): void => {
    forget.mutateAsync({ server }).then(
      () => {
        say(`Forgot ${server}.`);
        onClose();
      },
      () => {},
    );
  };
  return (
    <Confirm
      title={`Forget ${server}?`}
      act="Forget server"
      typed={server}
      pending={forget.isPending}
      error={forget.error}
      failed="Nothing was forgotten."
      onAct={act}
      onClose={onClose}
    >
      <p>
        What was approved of it is lost, and the names of its tools are free for whichever server takes them. Grants for those names stay: whoever has the name
        next can be called by them.
      </p>
      <CliCommand words={`servers forget ${server}`} />
    </Confirm>
  );
}
